"""Where configurations may reach out to: addresses, HTTP servers and databases, each checked as it is connected to."""
