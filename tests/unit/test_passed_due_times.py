"""The due times that nobody saw to: counted, not walked through one by one."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.triggers.passed import Passed, passed
from penstock.connectors.cadence import Cadence
from penstock.kernel.cron import Cron

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
moments = st.integers(0, 40 * 86_400).map(lambda seconds: BEGIN + timedelta(seconds=seconds))
crons = st.sampled_from(["*/20 * * * * *", "0 */7 * * * *", "0 0 3 * * *", "0 30 8 1 * *", "0 0 0 29 2 *"])


@given(crons, moments, st.integers(-100, 40_000))
def test_by_cron_they_are_those_that_it_has_in_between(cron: str, after: datetime, seconds: int) -> None:
    until = after + timedelta(seconds=seconds)
    all_of_them = list(Cron.parse(cron).between(after, until, UTC))
    wanted = Passed(all_of_them[0], all_of_them[-1], len(all_of_them)) if all_of_them else None
    assert passed(Cadence.of(None, cron, UTC), after, until) == wanted


@given(st.integers(1, 900), moments, st.integers(-100, 40_000))
def test_by_frequency_they_are_its_multiples(frequency: int, after: datetime, seconds: int) -> None:
    found = passed(Cadence.of(timedelta(seconds=frequency), None, UTC), after, after + timedelta(seconds=seconds))
    count = max(seconds, 0) // frequency
    if not count:
        assert found is None
        return
    first, last = after + timedelta(seconds=frequency), after + timedelta(seconds=frequency * count)
    assert found == Passed(first, last, count)


def test_millions_are_told_by_their_ends() -> None:
    until = BEGIN + timedelta(days=90)
    found = passed(Cadence.of(None, "* * * * * *", UTC), BEGIN, until)
    assert found == Passed(BEGIN + timedelta(seconds=1), until, 90 * 86_400)
