"""Envoy as the proxy of a gateway: what a table means in Envoy's words, and its process."""
