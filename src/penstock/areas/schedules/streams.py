"""The message stream of each schedule."""

from penstock.areas.schedules.model import SCHEDULES
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.bus.bus import Bus
from penstock.bus.streams import StreamSpec
from penstock.kernel.clock import Clock
from penstock.protocol import subjects
from penstock.resource.owned_streams import OwnedStreams, history_stream
from penstock.store.store import Store


def stream_of(schedule: str) -> str:
    """The stream's name."""
    return subjects.schedule_stream(schedule)


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
    return history_stream(stream_of(schedule), f"what the schedule {schedule} does")
