"""When what is due: one heap and one task for all flows, so that a flow at rest costs nothing."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from penstock.kernel.clock import Clock

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

_BATCH = 500  # rings handed on together; more would hold up the event loop
_LOOK = 60.0  # seconds; a clock that was set back is noticed within this time
_JITTER = timedelta(seconds=1)
_REPEAT = timedelta(hours=3)  # a clock set back further was wrong before: schedules start anew
_NEVER = datetime.max.replace(tzinfo=UTC)


class Alarm:
    """Something that is due again and again. A subclass says when and what then.

    flow: whose it is. due: the next time; None when it is not in the timetable.
    until: no due time after it counts.
    """

    __slots__ = ("due", "flow", "serial", "until")

    is_tick: ClassVar[bool] = True
    """Whether each due time must be accounted for; else late ones just ring late."""

    def __init__(self, flow: "FlowContext") -> None:
        self.flow = flow
        self.due: datetime | None = None
        self.until: datetime | None = None
        self.serial = 0

    def first(self, since: datetime) -> datetime | None:
        """The first due time of an alarm that begins at `since`; None when there is none."""
        return self.after(since)

    def after(self, due: datetime) -> datetime | None:
        """The due time that follows `due`; None when there is none, or not yet."""
        raise NotImplementedError

    def span(self, due: datetime, limit: datetime) -> tuple[datetime, int]:
        """The last of the due times from `due` to `limit`, and how many they are."""
        raise NotImplementedError

    def ring(self, due: datetime) -> None:
        """Does what is due; must not wait."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Ring:
    """Due times of an alarm that have come: one that is to ring, or `count` that are too late."""

    alarm: Alarm
    due: datetime
    last_due: datetime
    count: int
    missed: bool


Deliver = Callable[[Sequence[Ring]], Awaitable[None]]


class Timetable:
    """Keeps alarms and hands on what is due. late: how late an alarm that is a tick may still ring."""

    def __init__(self, clock: Clock, deliver: Deliver, late: timedelta) -> None:
        self._clock = clock
        self._deliver = deliver
        self._late = late
        self._heap: list[tuple[datetime, int, Alarm]] = []
        self._gone = 0
        self._serial = 0
        self._seen = clock.now()
        self._sleeper: asyncio.Task[None] | None = None
        self._wake_at = _NEVER
        self._serving = False
        self._delivering = False
        self._round = asyncio.Event()

    def set(self, alarm: Alarm, due: datetime | None) -> None:
        """Puts the alarm at `due`, instead of where it was; None takes it out."""
        if alarm.due is not None:
            self._gone += 1
            self._compact()
        if due is not None and alarm.until is not None and due > alarm.until:
            due = None
        alarm.due = due
        self._serial += 1
        alarm.serial = self._serial
        if due is None:
            return
        heapq.heappush(self._heap, (due, alarm.serial, alarm))
        if self._sleeper is not None and due < self._wake_at:
            self._sleeper.cancel()

    def end(self, alarm: Alarm, until: datetime) -> None:
        """Lets due times up to `until` ring, and none after it."""
        alarm.until = until
        if alarm.due is not None and alarm.due > until:
            self.set(alarm, None)

    async def passed(self, moment: datetime) -> None:
        """Returns when all that was due up to `moment` has been delivered; at once when nobody serves."""
        while self.owes(moment):
            await self._round.wait()

    def owes(self, moment: datetime) -> bool:
        """Whether something that was due up to `moment` has yet to be delivered."""
        return self._serving and (self._delivering or self._has(moment))

    def _has(self, moment: datetime) -> bool:
        return bool(self._heap) and self._heap[0][0] <= moment

    async def serve(self) -> None:
        """Delivers what is due, until cancelled."""
        self._serving = True
        try:
            while True:
                await self._sleep()
                await self._serve_round()
        finally:
            self._serving = False
            self._round.set()

    async def _serve_round(self) -> None:
        now = self._clock.now()
        self._notice_step(now)
        rings = self._collect(now)
        if rings:
            self._delivering = True
            await self._deliver(rings)
            self._delivering = False
        self._round.set()
        self._round = asyncio.Event()

    async def _sleep(self) -> None:
        """Returns when something may be due, or the clock ought to be looked at."""
        self._wake_at = self._heap[0][0] if self._heap else _NEVER
        if self._wake_at <= self._clock.now():
            await asyncio.sleep(0)
            return
        self._sleeper = asyncio.create_task(self._clock.sleep_until(self._wake_at))
        try:
            await asyncio.wait({self._sleeper}, timeout=_LOOK)
            if self._sleeper.done() and not self._sleeper.cancelled():
                self._sleeper.result()
        finally:
            self._sleeper.cancel()
            self._sleeper = None

    def _collect(self, now: datetime) -> list[Ring]:
        rings: list[Ring] = []
        heap = self._heap
        while heap and heap[0][0] <= now and len(rings) < _BATCH:
            due, serial, alarm = heapq.heappop(heap)
            if alarm.serial != serial:
                self._gone -= 1
                continue
            alarm.due = None
            last, count = due, 1
            missed = alarm.is_tick and due < now - self._late
            if missed:
                last, count = alarm.span(due, self._too_late(alarm, now))
            rings.append(Ring(alarm, due, last, count, missed))
            self.set(alarm, alarm.after(last))
        return rings

    def _too_late(self, alarm: Alarm, now: datetime) -> datetime:
        limit = now - self._late - timedelta(microseconds=1)
        return limit if alarm.until is None else min(limit, alarm.until)

    def _notice_step(self, now: datetime) -> None:
        """Follows a clock that was set back; one set forward just makes things late."""
        back = self._seen - now
        self._seen = now
        if back < _JITTER:
            return
        for _, serial, alarm in list(self._heap):
            if alarm.serial != serial or alarm.due is None:
                continue
            if not alarm.is_tick:
                self.set(alarm, alarm.due - back)
            elif back > _REPEAT:
                self.set(alarm, alarm.after(now))

    def _compact(self) -> None:
        """Forgets entries that were replaced, once they are the greater part."""
        if self._gone > 1000 and self._gone > len(self._heap) // 2:
            self._heap = [entry for entry in self._heap if entry[2].serial == entry[1]]
            heapq.heapify(self._heap)
            self._gone = 0
