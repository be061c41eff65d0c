"""rclone: its process, its remote control calls, and a transfer from start to verified end."""
