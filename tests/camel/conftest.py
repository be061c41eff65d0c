"""Fixtures of the tests that run Camel."""

from tests.camel.installed import engines

__all__ = ["engines"]
