"""What `penstock get` shows, one file for each subject."""
