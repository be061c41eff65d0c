"""Counting of failures and the waits that follow."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.identity import failures
from penstock.areas.identity.failures import Failures

START = datetime(2026, 1, 1, tzinfo=UTC)
LONGEST = timedelta(minutes=15)


def failed(times: int, free: int = 3) -> Failures:
    counted = Failures(free, LONGEST)
    for _ in range(times):
        counted.add(b"key", START)
    return counted


@given(st.integers(0, 3000))
def test_the_wait_never_exceeds_the_longest_and_never_gets_shorter(times: int) -> None:
    counted = failed(times)
    before = counted.wait(b"key", START)
    counted.add(b"key", START)
    assert timedelta() <= before <= counted.wait(b"key", START) <= LONGEST


def test_free_failures_have_no_wait() -> None:
    assert failed(2).wait(b"key", START) == timedelta()
    assert failed(3).wait(b"key", START) == timedelta(seconds=1)


def test_a_failure_taken_back_does_not_count() -> None:
    counted = failed(3)
    counted.take_back(b"key")
    assert counted.wait(b"key", START) == timedelta()
    counted.take_back(b"key")
    counted.take_back(b"key")
    counted.take_back(b"key")
    assert len(counted) == 0


def test_memory_is_bounded_and_the_oldest_go_first() -> None:
    counted = Failures(1, LONGEST)
    for number in range(failures.MOST + 10):
        counted.add(number.to_bytes(8), START + timedelta(milliseconds=number))
    assert len(counted) == failures.MOST
    now = START + timedelta(milliseconds=failures.MOST)
    assert counted.wait((9).to_bytes(8), now) == timedelta()
    assert counted.wait((failures.MOST + 9).to_bytes(8), now) > timedelta()


@given(st.integers(1, 20))
def test_a_block_never_ends_by_being_forgotten(times: int) -> None:
    counted = failed(times, free=1)
    end = START + counted.wait(b"key", START)
    assert counted.wait(b"key", end - timedelta(microseconds=1)) > timedelta()
    assert counted.wait(b"key", end) <= timedelta()
