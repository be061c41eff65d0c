"""What flows do about errors."""
