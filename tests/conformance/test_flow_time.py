"""When flows are due: the zone, a machine that slept, timers."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from penstock.flow.parsing.parser import parse_flow
from tests.conformance.running_engine import running_engine
from tests.conformance.timed_flows import NOON, SECOND, logging, timer
from tests.unit.stepping_clock import SteppingClock


async def test_schedules_follow_the_zone_when_its_clocks_change() -> None:
    clock = SteppingClock(datetime(2026, 3, 28, 20, tzinfo=UTC))
    async with running_engine(clock, ZoneInfo("Europe/Berlin")) as running:
        await running.engine.start(logging("nightly", "0 30 2 * * ?"))
        await clock.advance(timedelta(days=2))
    due = [f"{tick.due:%d %H:%M}" for tick in running.listener.ticked]
    assert due == ["29 01:00", "30 00:30"]  # 03:00, right after the gap; then 02:30, in UTC


async def test_a_tick_that_a_suspended_machine_slept_through_is_missed_and_not_run() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(logging("hourly", "0 0 * * * ?"))
        await running.engine.start(logging("often", "0/10 * * * * ?"))
        await clock.step(timedelta(hours=8, minutes=10))
        ticks = running.listener.ticked
    (hourly,) = [tick for tick in ticks if tick.flow == "hourly"]
    assert (hourly.missed, hourly.count) == (True, 8)
    assert (hourly.due, hourly.last_due) == (NOON + timedelta(hours=1), NOON + timedelta(hours=8))
    assert hourly.reason
    often = [tick for tick in ticks if tick.flow == "often"]
    assert [tick.missed for tick in often] == [True] + [False] * 7
    assert sum(tick.count for tick in often) == (8 * 60 + 10) * 6
    assert len(running.listener.lines) == 7


async def test_a_timer_waits_for_its_exchange_before_it_fires_again() -> None:
    async with running_engine() as running:
        await running.start("slow", timer("delay=0&period=1&repeatCount=3", "to: exec:sleep?args=0.1"))
        await running.settled("slow", 3)
    started = [run.started for run in running.listener.started]
    finished = [run.finished for run in running.listener.finished]
    assert len(started) == 3
    assert all(begin >= (end or NOON) for begin, end in zip(started[1:], finished, strict=False))


@pytest.mark.parametrize(
    ("options", "fired"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("delay=0&period=2s", [0, 2, 4]),
        ("delay=2500", [2.5, 3.5, 4.5]),
        ("repeatCount=2", [1, 2]),
        ("delay=-1&repeatCount=4&period=100s", [0, 0, 0, 0]),
        ("delay=1s&period=0", [1]),
        ("fixedRate=true&period=2s&delay=500", [0.5, 2.5, 4.5]),
    ],
)
async def test_a_timer_fires_as_its_options_say(options: str, fired: list[float]) -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(
            parse_flow(
                "timer", "1", timer(f"includeMetadata=true&{options}", "log: '${exchangeProperty.CamelTimerCounter}'")
            )
        )
        await clock.advance(SECOND * 5)
    assert [(line.at - NOON).total_seconds() for line in running.listener.lines] == fired
    assert running.listener.messages == [str(number + 1) for number in range(len(fired))]


async def test_a_schedules_exchange_says_what_it_was_due_for() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        source = (
            "- from:\n    uri: quartz:nightly/backup?cron=30+*+*+*+*+?\n    steps:\n"
            "    - log: '${header.triggerGroup} ${header.triggerName} ${header.scheduledFireTime} "
            "${header.nextFireTime}'\n"
        )
        await running.engine.start(parse_flow("a", "1", source))
        await clock.advance(SECOND * 30)
    assert running.listener.messages == ["nightly backup Sun Mar 01 12:00:30 UTC 2026 Sun Mar 01 12:01:30 UTC 2026"]


async def test_a_timer_at_a_fixed_rate_leaves_out_what_was_slept_through() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(parse_flow("timer", "1", timer("fixedRate=true&delay=0&period=2s", "log: hello")))
        await clock.advance(SECOND)
        await clock.step(SECOND * 100)
        await clock.advance(SECOND * 4)
    assert [(line.at - NOON).total_seconds() for line in running.listener.lines] == [0, 101, 102, 104]
