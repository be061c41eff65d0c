"""Endpoints that agents host, and where they answer now."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class HostedEndpoints(Protocol):
    """Provided by `endpoints`; what changes is told of `integration_endpoints`, `endpoint_agent_states`, `agents`."""

    async def has(self, route: str) -> bool:
        """Whether there is an endpoint with this route, compared without case."""
        ...

    async def ready(self) -> Mapping[str, Sequence[str]]:
        """By route, as it is written: the base addresses of the online agents that have the endpoint ready, sorted."""
        ...
