"""Kinds of packages that have an environment of their own: their code runs in a process of that environment."""
