"""Keys of subscriptions."""
