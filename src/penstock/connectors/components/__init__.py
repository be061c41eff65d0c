"""Component kinds, one file each."""
