"""The process in which `python` steps run."""
