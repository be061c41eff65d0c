"""One timetable for all flows: what is due rings in order, late ticks are accounted for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from penstock.flow.commands.command import CommandRunner
from penstock.flow.context import FlowContext
from penstock.flow.timetable import Alarm, Ring, Timetable
from penstock.flow.variables import Variable, Variables
from tests.unit.flow_listener import RememberingListener
from tests.unit.stepping_clock import SteppingClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATE = timedelta(seconds=60)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def seconds(moment: datetime) -> float:
    return (moment - NOON).total_seconds()


class Every(Alarm):
    """Due at each multiple of `period` seconds after noon."""

    __slots__ = ("name", "period", "rung")

    def __init__(self, name: str, period: int) -> None:
        clock = SteppingClock(NOON)
        super().__init__(
            FlowContext(name, "1", clock, RememberingListener(), Variables(no_variable), CommandRunner({}))
        )
        self.name = name
        self.period = timedelta(seconds=period)
        self.rung: list[float] = []

    def after(self, due: datetime) -> datetime | None:
        return NOON + self.period * ((due - NOON) // self.period + 1)

    def span(self, due: datetime, limit: datetime) -> tuple[datetime, int]:
        last = NOON + self.period * ((limit - NOON) // self.period)
        return last, (last - due) // self.period + 1

    def ring(self, due: datetime) -> None:
        self.rung.append(seconds(due))


class Relative(Every):
    __slots__ = ()

    is_tick = False


async def no_variable(name: str) -> Variable:
    raise LookupError(name)


class Serving:
    """A timetable that is served; `rings` is what it delivered."""

    def __init__(self) -> None:
        self.clock = SteppingClock(NOON)
        self.rings: list[Ring] = []
        self.hold = asyncio.Event()
        self.hold.set()
        self.table = Timetable(self.clock, self._deliver, LATE)

    async def _deliver(self, rings: Sequence[Ring]) -> None:
        await self.hold.wait()
        self.rings += rings
        for ring in rings:
            if not ring.missed:
                ring.alarm.ring(ring.due)

    def add(self, alarm: Every, due: float | None = None) -> Every:
        self.table.set(alarm, at(due) if due is not None else alarm.after(self.clock.now()))
        return alarm

    async def pass_by(self, length: float) -> None:
        await self.clock.advance(timedelta(seconds=length))

    async def step(self, length: float) -> None:
        await self.clock.step(timedelta(seconds=length))


@asynccontextmanager
async def serving() -> AsyncIterator[Serving]:
    served = Serving()
    server = asyncio.create_task(served.table.serve())
    try:
        await served.pass_by(0)
        yield served
    finally:
        server.cancel()
        await asyncio.wait({server})


async def test_alarms_ring_at_each_of_their_due_times() -> None:
    async with serving() as served:
        three, five = served.add(Every("three", 3)), served.add(Every("five", 5))
        await served.pass_by(15)
        assert three.rung == [3, 6, 9, 12, 15]
        assert five.rung == [5, 10, 15]
        assert [seconds(ring.due) for ring in served.rings] == [3, 5, 6, 9, 10, 12, 15, 15]


async def test_an_alarm_that_is_due_earlier_than_all_others_is_not_overslept() -> None:
    async with serving() as served:
        served.add(Every("seldom", 3600))
        await served.pass_by(1)
        often = served.add(Every("often", 2))
        await served.pass_by(1)
        assert often.rung == [2]


async def test_an_alarm_that_was_taken_out_does_not_ring() -> None:
    async with serving() as served:
        alarm = served.add(Every("gone", 3))
        await served.pass_by(4)
        served.table.set(alarm, None)
        await served.pass_by(10)
        assert alarm.rung == [3]


async def test_an_alarm_that_ends_still_rings_for_what_was_due_until_then() -> None:
    async with serving() as served:
        alarm = served.add(Every("ending", 3))
        served.table.end(alarm, at(7))
        await served.pass_by(20)
        assert alarm.rung == [3, 6]


async def test_due_times_within_the_grace_all_ring() -> None:
    async with serving() as served:
        alarm = served.add(Every("minutely", 20))
        await served.step(60)
        assert alarm.rung == [20, 40, 60]


async def test_due_times_later_than_the_grace_are_missed_and_counted() -> None:
    async with serving() as served:
        alarm = served.add(Every("often", 10))
        await served.step(200)
        missed = served.rings[0]
        assert missed.missed
        assert (seconds(missed.due), seconds(missed.last_due), missed.count) == (10, 130, 13)
        assert alarm.rung == [140, 150, 160, 170, 180, 190, 200]


async def test_due_times_missed_after_the_end_do_not_count() -> None:
    async with serving() as served:
        alarm = served.add(Every("ended", 10))
        served.table.end(alarm, at(25))
        await served.step(200)
        assert [(seconds(ring.due), seconds(ring.last_due), ring.count) for ring in served.rings] == [(10, 20, 2)]


async def test_an_alarm_that_is_no_tick_rings_late_once() -> None:
    async with serving() as served:
        alarm = served.add(Relative("timer", 1000))
        await served.step(5000)
        assert alarm.rung[0] == 1000
        assert not any(ring.missed for ring in served.rings)


async def test_a_clock_set_back_repeats_no_tick_but_keeps_timers_going() -> None:
    async with serving() as served:
        tick, timer = served.add(Every("tick", 10)), served.add(Relative("timer", 10))
        await served.pass_by(20)
        await served.step(-600)
        served.add(Every("any", 1))
        await served.pass_by(10)
        assert tick.rung == [10, 20]
        assert timer.rung == [10, 20, -570]


async def test_a_clock_set_back_by_more_than_three_hours_starts_schedules_anew() -> None:
    async with serving() as served:
        tick = served.add(Every("tick", 10))
        await served.pass_by(20)
        await served.step(-86_400)
        served.add(Every("any", 1))
        await served.pass_by(10)
        assert tick.rung == [10, 20, -86_370]


async def test_waiting_for_what_has_passed_waits_for_its_delivery() -> None:
    async with serving() as served:
        alarm = served.add(Every("held", 3))
        served.hold.clear()
        await served.pass_by(3)
        waiter = asyncio.create_task(served.table.passed(at(3)))
        await served.pass_by(0)
        assert not waiter.done()
        served.hold.set()
        await waiter
        assert alarm.rung == [3]


async def test_nothing_is_waited_for_when_nothing_has_passed() -> None:
    async with serving() as served:
        served.add(Every("later", 100))
        await served.table.passed(at(99))


async def test_nothing_is_waited_for_when_nobody_serves() -> None:
    served = Serving()
    served.add(Every("never", 1))
    await served.table.passed(at(5))


async def test_alarms_set_again_and_again_ring_once() -> None:
    async with serving() as served:
        alarm = Every("restless", 10)
        for _ in range(5000):
            served.table.set(alarm, at(10))
        await served.pass_by(10)
        assert alarm.rung == [10]


async def test_thousands_of_alarms_due_at_once_all_ring() -> None:
    async with serving() as served:
        alarms = [served.add(Every(str(number), 60)) for number in range(3000)]
        await served.pass_by(60)
        await served.table.passed(at(60))
        assert all(alarm.rung == [60] for alarm in alarms)
