"""Event sources on the agent."""
