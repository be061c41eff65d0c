"""The message stream of each schedule."""

from datetime import timedelta

import structlog

from penstock.areas.schedules.model import SCHEDULES
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.bus.bus import Bus
from penstock.bus.naming import stream_key
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.clock import Clock
from penstock.kernel.names import name_key
from penstock.protocol import subjects
from penstock.store.store import Store, decode

log = structlog.get_logger(__name__)

_PREFIX = subjects.schedule_stream("")
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


class ScheduleStreams:
    """Makes, removes and repairs them. A schedule and its stream cannot be committed together."""

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: SchedulePolicy) -> None:
        self._streams = Streams(bus)
        self._store = store
        self._clock = clock
        self._orphan_after = policy.orphan_after

    async def ensure(self, schedule: str) -> None:
        """Makes the schedule's stream when there is none."""
        stream = stream_of(schedule)
        await self._streams.ensure(
            StreamSpec(
                name=stream,
                subjects=[subject_of(stream)],
                description=f"what the schedule {schedule} does",
                max_age=_KEEP,
                max_messages=_MESSAGES,
                duplicate_window=_DUPLICATES,
            )
        )

    async def remove(self, schedule: str) -> None:
        """Deletes the schedule's stream with its messages."""
        await self._streams.delete(stream_of(schedule))

    async def repair(self) -> None:
        """Makes the streams that schedules lack and deletes those without a schedule.

        One that is young may belong to a schedule that is being applied right now.
        """
        found = {info.name: info.created_at for info in await self._streams.list() if info.name.startswith(_PREFIX)}
        documents = await self._store.list(SCHEDULES, limit=2**31 - 1)
        schedules = [decode(document.body, SCHEDULES.type) for document in documents]
        wanted = {stream_of(schedule.name): schedule.name for schedule in schedules}
        for stream in wanted.keys() - found.keys():
            log.warning("stream of a schedule was missing", stream=stream)
            await self.ensure(wanted[stream])
        keys = {name_key(stream) for stream in wanted}
        for stream, created in found.items():
            if name_key(stream) not in keys and self._clock.now() - created > self._orphan_after:
                await self._remove_orphan(stream)

    async def _remove_orphan(self, stream: str) -> None:
        if await self._store.find(SCHEDULES, "name", stream.removeprefix(_PREFIX)) is None:
            log.info("stream without a schedule is deleted", stream=stream)
            await self._streams.delete(stream)
