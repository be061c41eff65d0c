"""Endpoints as assigned work: APIs of packages, hosted at the agent's own address."""
