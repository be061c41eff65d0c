"""Clocks: the machine's, and the one that tests drive."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from penstock.kernel.clock import ManualClock, SystemClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def test_the_machines_time_is_aware_and_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


async def test_the_machines_clock_wakes_a_sleeper_when_its_time_has_come_and_not_before() -> None:
    clock = SystemClock()
    due = clock.now() + timedelta(milliseconds=20)
    await clock.sleep_until(due)
    assert clock.now() >= due


async def test_sleeping_until_a_time_that_has_passed_returns_at_once() -> None:
    system, manual = SystemClock(), ManualClock(NOON)
    await system.sleep_until(system.now() - MINUTE)
    await manual.sleep_until(NOON - MINUTE)
    await manual.sleep_until(NOON)


async def test_a_manual_clock_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(NOON)
    assert clock.now() == NOON
    await clock.advance(MINUTE)
    assert clock.now() == NOON + MINUTE


async def test_a_manual_clock_tells_utc_whatever_offset_it_was_given() -> None:
    clock = ManualClock(NOON.astimezone(timezone(timedelta(hours=5))))
    assert clock.now().tzinfo is UTC
    assert clock.now() == NOON


async def test_sleepers_wake_in_the_order_of_their_due_times_each_at_its_own() -> None:
    clock = ManualClock(NOON)
    woken: list[tuple[str, datetime]] = []

    async def sleep(name: str, minutes: int) -> None:
        await clock.sleep_until(NOON + minutes * MINUTE)
        woken.append((name, clock.now()))

    async with asyncio.TaskGroup() as group:
        for name, minutes in [("last", 9), ("first", 1), ("second", 5), ("also second", 5)]:
            group.create_task(sleep(name, minutes))
        await clock.advance(10 * MINUTE)
    assert woken == [
        ("first", NOON + MINUTE),
        ("second", NOON + 5 * MINUTE),
        ("also second", NOON + 5 * MINUTE),
        ("last", NOON + 9 * MINUTE),
    ]
    assert clock.now() == NOON + 10 * MINUTE


async def test_a_sleeper_whose_time_has_not_come_sleeps_on() -> None:
    clock = ManualClock(NOON)
    sleeper = asyncio.create_task(clock.sleep_until(NOON + 2 * MINUTE))
    await clock.advance(2 * MINUTE - timedelta(microseconds=1))
    assert not sleeper.done()
    await clock.advance(timedelta(microseconds=1))
    assert sleeper.done()


async def test_a_sleeper_that_sleeps_again_wakes_at_each_of_its_times_in_one_advance() -> None:
    clock = ManualClock(NOON)
    seen: list[datetime] = []

    async def tick() -> None:
        for _ in range(5):
            await clock.sleep_until(clock.now() + MINUTE)
            seen.append(clock.now())

    async with asyncio.TaskGroup() as group:
        group.create_task(tick())
        await clock.advance(5 * MINUTE)
    assert seen == [NOON + step * MINUTE for step in range(1, 6)]


async def test_a_cancelled_sleeper_does_not_keep_the_others_from_waking() -> None:
    clock = ManualClock(NOON)
    gone, stays = (asyncio.create_task(clock.sleep_until(NOON + MINUTE)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await clock.advance(MINUTE)
    assert stays.done()
    assert gone.cancelled()
