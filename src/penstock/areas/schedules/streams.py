"""The message stream of each schedule."""

from datetime import timedelta

from penstock.areas.schedules.model import SCHEDULES
from penstock.areas.schedules.policy import SchedulePolicy
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
# Long enough for a server that died to be started again, so that what it repeats is stored once.
_DUPLICATES = timedelta(minutes=10)


def stream_of(schedule: str) -> str:
    """The stream's name."""
    return subjects.schedule_stream(schedule)


def subject_of(stream: str) -> str:
    """Where the stream's messages are published."""
    return subjects.stream_subject(stream_key(stream))


class ScheduleStreams(OwnedStreams):
    """The streams of all schedules."""

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: SchedulePolicy) -> None:
        super().__init__(
            bus,
            store,
            clock,
            owners=SCHEDULES,
            prefix=subjects.schedule_stream(""),
            spec_of=_spec,
            orphan_after=policy.orphan_after,
        )


def _spec(schedule: str) -> StreamSpec:
    stream = stream_of(schedule)
    return StreamSpec(
        name=stream,
        subjects=[subject_of(stream)],
        description=f"what the schedule {schedule} does",
        max_age=_KEEP,
        max_messages=_MESSAGES,
        duplicate_window=_DUPLICATES,
    )
