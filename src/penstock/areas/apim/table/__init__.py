"""The table: what gateways serve, made of all that is published, and how it reaches them."""
