"""Flows start, take over from each other, and stop; everything ends with the engine."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from penstock.flow.commands.orphans import marked
from penstock.flow.listener import Tick
from penstock.flow.parsing.problem import InvalidFlow
from penstock.flow.running import FlowState
from penstock.kernel.errors import NotFound
from tests.conformance.running_engine import EVERY_SECOND, eventually, running_engine
from tests.conformance.timed_flows import NO_GRACE, NOON, SECOND, hesitating, logging, timer
from tests.unit.flow_listener import RememberingListener
from tests.unit.stepping_clock import SteppingClock


async def test_a_flow_that_does_not_run_is_not_found() -> None:
    async with running_engine() as running:
        with pytest.raises(NotFound, match="'nobody'"):
            running.engine.status("nobody")
        with pytest.raises(NotFound, match="'nobody'"):
            await running.engine.stop("nobody", NO_GRACE)


async def test_a_flows_status_tells_version_state_and_counts() -> None:
    async with running_engine() as running:
        await running.start("counted", timer("delay=0&period=1&repeatCount=4", "log: hello"), version="7")
        await running.settled("counted", 4)
        status = running.engine.status("counted")
        assert running.engine.names() == ["counted"]
    assert (status.name, status.version, status.state) == ("counted", "7", FlowState.RUNNING)
    assert (status.statistics.exchanges_total, status.statistics.exchanges_inflight) == (4, 0)


async def test_exchanges_in_flight_finish_within_the_grace() -> None:
    async with running_engine() as running:
        await running.schedule("brief", "sleep", "0.5")
        await eventually(lambda: bool(running.listener.started))
        await running.engine.stop("brief", timedelta(seconds=30))
        assert running.engine.names() == []
    assert [run.error for run in running.listener.finished] == [None] * len(running.listener.started)


async def test_exchanges_that_do_not_finish_within_the_grace_are_ended_and_told() -> None:
    async with running_engine() as running:
        await running.schedule("long", "sleep", "600")
        await eventually(lambda: bool(running.listener.started))
        await running.engine.stop("long", NO_GRACE)
        assert marked("PENSTOCK_AGENT_RUN", running.marker) == []
    assert {run.error for run in running.listener.finished} == {"command 'sleep' was ended together with its flow"}
    assert len(running.listener.finished) == len(running.listener.started)


async def test_everything_ends_with_the_engine() -> None:
    async with running_engine() as running:
        for number in range(5):
            await running.schedule(f"long-{number}", "sh", "-c", "setsid sleep 600 & sleep 600")
        await eventually(lambda: len(marked("PENSTOCK_AGENT_RUN", running.marker)) >= 10)
    assert marked("PENSTOCK_AGENT_RUN", running.marker) == []
    assert len(running.listener.finished) == len(running.listener.started)


async def test_everything_ends_with_an_engine_that_is_cancelled() -> None:
    markers: list[str] = []

    async def body() -> None:
        async with running_engine() as running:
            await running.schedule("long", "sleep", "600")
            await eventually(lambda: bool(marked("PENSTOCK_AGENT_RUN", running.marker)))
            markers.append(running.marker)
            await asyncio.sleep(600)

    task = asyncio.create_task(body())
    await eventually(lambda: bool(markers))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked("PENSTOCK_AGENT_RUN", *markers) == []


async def test_a_listener_that_raises_ends_the_engine() -> None:
    class Broken(RememberingListener):
        async def ticks(self, ticks: Sequence[Tick]) -> None:
            raise OSError("the disk is full")

    async def body() -> None:
        async with running_engine(listener=Broken()) as running:
            await running.engine.start(logging("any", EVERY_SECOND))
            await asyncio.sleep(600)

    with pytest.raises(BaseExceptionGroup) as ended:
        await body()
    (error,) = ended.value.exceptions
    assert isinstance(error, OSError)
    assert str(error) == "the disk is full"


async def test_a_new_version_takes_over_without_missing_or_doubling_a_due_time() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        for version in range(1, 30):
            await running.engine.start(logging("tick", EVERY_SECOND, str(version)))
            await clock.advance(SECOND * 0.3 * version)
        listener = running.listener
        await clock.advance(timedelta())
        seconds = int((clock.now() - NOON).total_seconds())
        assert [tick.due for tick in listener.ticked] == [NOON + SECOND * n for n in range(1, seconds + 1)]
        assert [line.message for line in listener.lines] == [tick.version for tick in listener.ticked]
        assert running.engine.status("tick").statistics.reloaded == 28


async def test_due_times_that_wait_for_the_listener_stay_the_old_versions() -> None:
    class Slow(RememberingListener):
        def __init__(self) -> None:
            super().__init__()
            self.free = asyncio.Event()

        async def ticks(self, ticks: Sequence[Tick]) -> None:
            await self.free.wait()
            self.ticked += ticks

    clock, listener = SteppingClock(NOON), Slow()
    async with running_engine(clock, listener=listener) as running:
        await running.engine.start(logging("tick", EVERY_SECOND, "old"))
        await clock.advance(SECOND * 3.5)
        await running.engine.start(logging("tick", EVERY_SECOND, "new"))
        await clock.advance(SECOND)
        listener.free.set()
        await clock.advance(SECOND)
        told = [(int((tick.due - NOON).total_seconds()), tick.version) for tick in listener.ticked]
    assert sorted(told) == [(1, "old"), (2, "old"), (3, "old"), (4, "new"), (5, "new")]


async def test_what_was_due_before_a_stop_still_fires() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(logging("tick", EVERY_SECOND))
        await clock.step(SECOND * 2.5)
        await running.engine.stop("tick", timedelta(seconds=30))
        await clock.advance(SECOND * 5)
    assert [tick.due for tick in running.listener.ticked] == [NOON + SECOND, NOON + SECOND * 2]
    assert len(running.listener.lines) == 2


@pytest.mark.parametrize(("error", "takes_over"), [(ConnectionError("away"), False), (None, True)])
async def test_the_old_version_ticks_until_the_new_one_has_started(error: Exception | None, takes_over: bool) -> None:
    clock, go = SteppingClock(NOON), asyncio.Event()
    async with running_engine(clock) as running:
        await running.engine.start(logging("tick", EVERY_SECOND, "old"))
        await clock.advance(SECOND * 2)
        new = hesitating(logging("tick", EVERY_SECOND, "new"), go, error)
        start = asyncio.create_task(running.engine.start(new))
        await clock.advance(SECOND * 2)
        go.set()
        (outcome,) = await asyncio.gather(start, return_exceptions=True)
        await clock.advance(SECOND * 2)
    assert outcome == (NOON + SECOND * 4 if takes_over else error)
    assert [tick.due for tick in running.listener.ticked] == [NOON + SECOND * n for n in range(1, 7)]
    last = ["new"] * 2 if takes_over else ["old"] * 2
    assert [tick.version for tick in running.listener.ticked] == ["old"] * 4 + last


async def test_a_first_version_that_cannot_start_is_not_there() -> None:
    go = asyncio.Event()
    go.set()
    async with running_engine() as running:
        with pytest.raises(ConnectionError):
            await running.engine.start(hesitating(logging("bad", EVERY_SECOND), go, ConnectionError("away")))
        assert running.engine.names() == []


async def test_starts_of_one_flow_at_the_same_time_leave_one_version_running() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        versions = [logging("tick", EVERY_SECOND, str(number)) for number in range(10)]
        await asyncio.gather(*(running.engine.start(version) for version in versions))
        await clock.advance(SECOND * 3)
        current = running.engine.status("tick").version
    assert [tick.version for tick in running.listener.ticked] == [current] * 3


async def test_an_option_that_needs_a_variable_gets_it_at_the_start() -> None:
    async with running_engine() as running:
        await running.start("period", timer("delay=0&period={{var:PERIOD}}&repeatCount=3", "log: hello"))
        await running.settled("period", 3)
        with pytest.raises(InvalidFlow, match="period"):
            await running.start("wrong", timer("period={{var:GREETING}}", "log: hello"))
        with pytest.raises(NotFound, match="NOBODY"):
            await running.start("missing", timer("period={{var:NOBODY}}", "log: hello"))
