"""When schedules are due: a message that the bus delivers then, to any one replica."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from penstock.areas.triggers.model import TriggerTick
from penstock.areas.triggers.policy import TriggerPolicy
from penstock.areas.triggers.stored import SCHEDULE_RUNS, TICKS, ScheduleKind, ScheduleRun
from penstock.bus.bus import Bus
from penstock.bus.consumer import ConsumerSpec
from penstock.bus.due import Due, due_consumer
from penstock.connectors.cadence import Cadence, cadence_errors
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, NotFound
from penstock.kernel.ids import new_id
from penstock.kernel.wire import Wire, encode
from penstock.resource.answer import Encoded
from penstock.resource.page import MOST
from penstock.store.store import Store, Where, decode
from penstock.store.write import Delete, Insert, Replace, Write

_TOPIC = "script-schedules"
_TAKEOVER_SECONDS = 5.0
_FIELDS = ("Frequency", "CronExpression")
_ALL = 2**31 - 1


class DueSchedule(Wire):
    """What a due message says. stamp: of the due times that this is one of."""

    id: UUID
    stamp: str
    due: datetime


def timing_errors(frequency: timedelta | None, cron: str | None) -> list[FieldError]:
    """What is wrong with when a schedule is due."""
    if frequency is None and not cron:
        return [FieldError("CronExpression", "is required, or a Frequency")]
    return cadence_errors(frequency, cron, _FIELDS)


class Timetable:
    """The documents with the next due times, and their messages."""

    def __init__(self, store: Store, bus: Bus, clock: Clock, policy: TriggerPolicy) -> None:
        self._store = store
        self._clock = clock
        self._due = Due(bus)
        self._zone = policy.zone

    async def ensure(self) -> None:
        """Makes the stream of due messages; idempotent."""
        await self._due.ensure()

    def cadence(self, frequency: timedelta | None, cron: str | None) -> Cadence:
        """Raises CronError."""
        return Cadence.of(frequency, cron, self._zone)

    async def plan_put(self, id: UUID, kind: ScheduleKind, cadence: Cadence) -> tuple[ScheduleRun, Write]:
        """The document of a schedule that is new, or due at other times from now on."""
        now = self._clock.now()
        stamp, due = new_id().hex, cadence.next_due(now, now)
        before = await self.run(id)
        if before is None:
            new = ScheduleRun(id=id, e_tag=stamp, created_date=now, kind=kind, stamp=stamp, next_due=due)
            return new, Insert(SCHEDULE_RUNS, id, stamp, new, now)
        run = msgspec.structs.replace(before, e_tag=stamp, stamp=stamp, next_due=due)
        return run, Replace(SCHEDULE_RUNS, id, stamp, run, now, expected=before.e_tag)

    def plan_remove(self, id: UUID) -> Write:
        """The write that removes the document of a schedule."""
        return Delete(SCHEDULE_RUNS, id, self._clock.now())

    async def run(self, id: UUID) -> ScheduleRun | None:
        """The document of a schedule."""
        document = await self._store.get(SCHEDULE_RUNS, id)
        return decode(document.body, ScheduleRun) if document is not None else None

    async def ticks(self, id: UUID) -> Encoded[list[TriggerTick]]:
        """What became of the due times of a schedule, newest first, at most 1,000."""
        return Encoded.array(list(await self._store.entries(TICKS, [Where("schedule", "=", str(id))], limit=MOST)))

    async def overdue(self, before: datetime) -> Sequence[ScheduleRun]:
        """Those whose due time was before this one."""
        found = await self._store.list(SCHEDULE_RUNS, [Where("next_due", "<", before)], limit=_ALL)
        return [decode(document.body, ScheduleRun) for document in found]

    async def put(self, run: ScheduleRun) -> None:
        """Has the next due message delivered in its time, in place of any other of the schedule."""
        if run.next_due is None:  # its cron expression is never due again
            return
        message = DueSchedule(id=run.key, stamp=run.stamp, due=run.next_due)
        await self._due.schedule(_key(run.key), run.next_due, _TOPIC, encode(message))

    async def forget(self, id: UUID) -> None:
        """Removes the document of a schedule that is gone."""
        with suppress(NotFound):
            await self._store.commit([self.plan_remove(id)])

    async def cancel(self, id: UUID) -> None:
        """The schedule is not due any more."""
        await self._due.cancel(_key(id))


def due_schedules() -> ConsumerSpec:
    """The consumer that replicas share to see to due schedules."""
    return due_consumer(_TOPIC, ack_seconds=_TAKEOVER_SECONDS)


def _key(id: UUID) -> str:
    return f"script-schedule.{id}"
