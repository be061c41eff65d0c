"""File transfers on the agent."""
