"""What gateways report: calls of published APIs, and how each gateway stands."""
