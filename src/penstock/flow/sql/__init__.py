"""Databases that flows use."""
