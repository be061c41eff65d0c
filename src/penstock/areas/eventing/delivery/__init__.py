"""Delivery: events leave the channels' streams for their endpoints, or become dead letters."""
