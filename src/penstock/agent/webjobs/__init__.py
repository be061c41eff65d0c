"""Web jobs that the agent keeps running."""
