"""Files that flows read and write."""
