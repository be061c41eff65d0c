"""The message stream of each event source: a copy of its events."""

from datetime import timedelta

from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.stored import INSTANCES, STREAM_PREFIX
from penstock.bus.bus import Bus
from penstock.bus.naming import stream_key
from penstock.bus.streams import StreamSpec
from penstock.kernel.clock import Clock
from penstock.protocol import subjects
from penstock.resource.owned_streams import OwnedStreams
from penstock.store.store import Store

_KEEP = timedelta(days=30)
# Not in bytes: the bus would reserve them on the disk for every stream.
_MESSAGES = 100_000
_DUPLICATES = timedelta(minutes=10)


def stream_of(source: str) -> str:
    """The stream's name."""
    return STREAM_PREFIX + source


def subject_of(stream: str) -> str:
    """Where the stream's messages are published."""
    return subjects.stream_subject(stream_key(stream))


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
    stream = stream_of(source)
    return StreamSpec(
        name=stream,
        subjects=[subject_of(stream)],
        description=f"events of the event source {source}",
        max_age=_KEEP,
        max_messages=_MESSAGES,
        duplicate_window=_DUPLICATES,
    )
