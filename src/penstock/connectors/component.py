"""The base of components: what happens to an event on its way through a channel."""

from collections.abc import Awaitable, Callable

from penstock.connectors.kind import Kind
from penstock.connectors.surroundings import Surroundings
from penstock.protocol.cloudevent import CloudEvent

Apply = Callable[[CloudEvent], Awaitable[CloudEvent | None]]
"""Answers the event as it goes on, None to drop it. Raises Undeliverable when it cannot be applied to this event."""


class ComponentKind(Kind, frozen=True):
    """A kind of component; one file in `components/` each."""

    def start(self, surroundings: Surroundings) -> Apply:
        """Prepares what every event needs, such as parsed expressions."""
        raise NotImplementedError
