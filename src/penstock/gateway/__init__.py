"""The API gateway: Envoy, configured from what the servers decided."""
