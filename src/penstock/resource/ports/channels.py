"""Event channels, as other areas see them."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True)
class KnownChannel:
    """A channel as other areas see it.

    stream: what it has to deliver. enabled: whether it is being delivered. endpoints: their types.
    """

    id: UUID
    name: str
    stream: str
    enabled: bool
    endpoints: frozenset[str]


class Channels(Protocol):
    """Provided by `eventing`."""

    async def named(self, name: str) -> KnownChannel | None:
        """The channel of this name, compared without case."""
        ...
