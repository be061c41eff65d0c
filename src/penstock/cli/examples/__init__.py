"""Example documents that come with the program."""
