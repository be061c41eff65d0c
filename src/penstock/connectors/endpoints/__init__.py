"""Endpoint kinds, one file each."""
