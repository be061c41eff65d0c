"""Due times that came before a flow was started on this agent."""

from datetime import UTC, datetime, timedelta

from penstock.flow.definition import FlowDefinition
from penstock.flow.parsing.parser import parse_flow
from tests.conformance.running_engine import EVERY_SECOND, eventually, running_engine
from tests.unit.stepping_clock import SteppingClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def every_second(version: str = "1") -> FlowDefinition:
    source = f"- from: {{uri: quartz, parameters: {{triggerName: a, cron: '{EVERY_SECOND}'}}, steps: [log: x]}}\n"
    return parse_flow("tick", version, source)


async def test_due_times_since_the_flow_was_asked_for_fire_at_once() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        moment = await running.engine.start(every_second(), since=NOON - SECOND * 3)
        await clock.advance(SECOND)
        ticks = running.listener.ticked
    assert moment == NOON - SECOND * 3
    assert [(tick.due - NOON).total_seconds() for tick in ticks] == [-2, -1, 0, 1]
    assert not any(tick.missed for tick in ticks)
    assert running.listener.messages == ["x"] * 4


async def test_due_times_that_are_too_old_to_fire_are_told_as_missed() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(every_second(), since=NOON - SECOND * 100)
        await clock.advance(timedelta())
        missed, *fired = running.listener.ticked
    assert (missed.missed, missed.count) == (True, 39)
    assert (missed.due, missed.last_due) == (NOON - SECOND * 99, NOON - SECOND * 61)
    assert [(tick.due - NOON).total_seconds() for tick in fired] == list(range(-60, 1))


async def test_a_start_that_is_asked_for_in_the_future_counts_from_now() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        assert await running.engine.start(every_second(), since=NOON + SECOND * 5) == NOON


async def test_a_version_that_runs_keeps_what_was_due_so_far() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(every_second("old"))
        await clock.advance(SECOND * 2)
        assert await running.engine.start(every_second("new"), since=NOON) == NOON + SECOND * 2
        await clock.advance(SECOND)
        told = [((tick.due - NOON).total_seconds(), tick.version) for tick in running.listener.ticked]
    assert told == [(1, "old"), (2, "old"), (3, "new")]


async def test_a_timer_begins_when_it_is_started_whatever_it_was_asked_for() -> None:
    clock = SteppingClock(NOON)
    flow = parse_flow("t", "1", "- from: {uri: 'timer:t?delay=1000&period=60000', steps: [log: x]}\n")
    async with running_engine(clock) as running:
        await running.engine.start(flow, since=NOON - timedelta(hours=1))
        await clock.advance(SECOND * 0.9)
        assert running.listener.lines == []
        await clock.advance(SECOND * 0.1)
        await eventually(lambda: bool(running.listener.lines))
    assert len(running.listener.lines) == 1
