"""Counts and times of a flow's exchanges."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.statistics import Statistics, age

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_a_new_flow_has_counted_nothing() -> None:
    counts = Statistics(NOON).snapshot(later(5))
    assert counts.exchanges_total == counts.exchanges_failed == counts.exchanges_inflight == 0
    assert counts.mean_processing_time == counts.min_processing_time == counts.max_processing_time == 0
    assert counts.since_last_created_exchange is None
    assert counts.load01 == counts.exchanges_throughput == "0.00"


def test_exchanges_are_counted_when_they_end() -> None:
    statistics = Statistics(NOON)
    statistics.created(later(1))
    statistics.created(later(2))
    statistics.finished(later(3), 2.0, failed=True)
    counts = statistics.snapshot(later(65))
    assert (counts.exchanges_total, counts.exchanges_failed, counts.exchanges_inflight) == (1, 1, 1)
    assert (counts.since_last_created_exchange, counts.since_last_completed_exchange) == ("1m3s", "1m2s")


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=20))
def test_times_are_those_of_all_exchanges(millis: list[int]) -> None:
    statistics = Statistics(NOON)
    for length in millis:
        statistics.created(NOON)
        statistics.finished(NOON, length / 1000, failed=False)
    counts = statistics.snapshot(NOON)
    assert counts.min_processing_time == min(millis)
    assert counts.max_processing_time == max(millis)
    assert counts.last_processing_time == millis[-1]
    assert counts.delta_processing_time == (millis[-1] - millis[-2] if len(millis) > 1 else 0)
    assert abs(counts.mean_processing_time - sum(millis) / len(millis)) <= 1


def test_loads_approach_the_number_in_flight_the_shorter_the_faster() -> None:
    statistics = Statistics(NOON)
    for _ in range(4):
        statistics.created(NOON)
    minute = statistics.snapshot(later(60))
    assert (minute.load01, minute.load05, minute.load15) == ("2.53", "0.73", "0.26")
    assert statistics.snapshot(later(7200)).load15 == "4.00"


def test_averages_do_not_depend_on_how_often_they_are_looked_at() -> None:
    seldom, often = Statistics(NOON), Statistics(NOON)
    for statistics in (seldom, often):
        statistics.created(NOON)
    for second in range(1, 60):
        often.snapshot(later(second))
    assert seldom.snapshot(later(60)) == often.snapshot(later(60))


def test_throughput_settles_at_the_rate_and_fades() -> None:
    statistics = Statistics(NOON)
    for tenth in range(6000):
        statistics.created(later(tenth / 10))
        statistics.finished(later(tenth / 10), 0.01, failed=False)
    assert float(statistics.snapshot(later(600)).exchanges_throughput or 0) == pytest.approx(10, rel=0.02)
    assert statistics.snapshot(later(6000)).exchanges_throughput == "0.00"


def test_a_clock_that_was_set_back_does_no_harm() -> None:
    statistics = Statistics(NOON)
    statistics.created(NOON)
    statistics.finished(NOON - timedelta(hours=1), 0.1, failed=False)
    assert statistics.snapshot(NOON - timedelta(hours=1)).since_last_created_exchange == "0s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (9.9, "9s"), (61, "1m1s"), (3 * 3600 + 720, "3h12m"), (3 * 86_400 + 8 * 3600, "3d8h"), (-5, "0s")],
)
def test_an_age_is_shown_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert age(timedelta(seconds=seconds)) == text
