"""The message stream of each event source: a copy of its events."""

from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.stored import INSTANCES, STREAM_PREFIX
from penstock.bus.bus import Bus
from penstock.bus.streams import StreamSpec
from penstock.kernel.clock import Clock
from penstock.resource.owned_streams import OwnedStreams, history_stream
from penstock.store.store import Store


def stream_of(source: str) -> str:
    """The stream's name."""
    return STREAM_PREFIX + source


class SourceStreams(OwnedStreams):
    """Makes, removes and repairs them."""

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: EventSourcePolicy) -> None:
        super().__init__(
            bus,
            store,
            clock,
            owners=INSTANCES,
            prefix=STREAM_PREFIX,
            spec_of=_spec_of,
            orphan_after=policy.orphan_after,
        )


def _spec_of(source: str) -> StreamSpec:
    return history_stream(stream_of(source), f"events of the event source {source}")
