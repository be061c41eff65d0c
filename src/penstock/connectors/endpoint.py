"""The base of endpoints: where the events of a channel go."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from penstock.connectors.kind import Kind
from penstock.connectors.surroundings import Surroundings
from penstock.protocol.cloudevent import CloudEvent

Deliver = Callable[[CloudEvent], Awaitable[None]]
"""Returns when the other side has the event. Raises DeliveryFailed, EndpointGone, Undeliverable (see `failure`).

May be called again with an event that was delivered: endpoints that can tell by its source and id do nothing then.
"""


class EndpointKind(Kind, frozen=True):
    """A kind of endpoint; one file in `endpoints/` each."""

    def open(self, surroundings: Surroundings) -> AbstractAsyncContextManager[Deliver]:
        """Holds connections and the like for as long as the context lasts; opening does not wait for the other side."""
        raise NotImplementedError
