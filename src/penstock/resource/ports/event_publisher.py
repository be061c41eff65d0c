"""Where other areas publish events."""

from collections.abc import Sequence
from typing import Protocol

from penstock.protocol.cloudevent import CloudEvent


class EventPublisher(Protocol):
    """Provided by `eventing`."""

    async def publish(self, events: Sequence[CloudEvent], *, channels: Sequence[str] | None = None) -> None:
        """Returns once the events are durably stored; they then reach every channel that subscribes to them.

        An event with the source and id of one that was stored in the last two minutes is stored once.
        channels: these names, whatever is subscribed. Raises NotFound for a channel that does not exist, Invalid for
        data that the event's definition does not allow, Unavailable: the events may then have been stored.
        """
        ...
