"""Event source kinds, one file each."""
