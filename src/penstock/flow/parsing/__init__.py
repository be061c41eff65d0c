"""Flows' documents read into routes, every problem with its place."""
