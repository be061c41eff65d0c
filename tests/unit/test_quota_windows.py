"""The periods that quotas are counted in."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.apim.subscription_parameters import window

PERIODS = ("day", "week", "month", "01:00:00", "PT36H", "7.00:00:00")
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("period", "begin", "end"),
    [
        ("day", "2026-02-28T00:00:00", "2026-03-01T00:00:00"),
        ("week", "2026-02-23T00:00:00", "2026-03-02T00:00:00"),
        ("month", "2026-02-01T00:00:00", "2026-03-01T00:00:00"),
        ("01:00:00", "2026-02-28T23:00:00", "2026-03-01T00:00:00"),
        ("P1D", "2026-02-28T00:00:00", "2026-03-01T00:00:00"),
    ],
)
def test_a_period_begins_and_ends_in_utc(period: str, begin: str, end: str) -> None:
    now = datetime(2026, 2, 28, 23, 59, 59, 999_999, tzinfo=UTC)
    expected = tuple(datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (begin, end))
    assert window(period, now) == expected


@given(TIMES, st.sampled_from(PERIODS))
def test_each_moment_is_in_one_period_and_the_next_begins_where_it_ends(now: datetime, period: str) -> None:
    found = window(period, now)
    assert found is not None
    begin, end = found
    assert begin <= now < end
    assert (begin.minute, begin.second, end.minute) == (0, 0, 0)
    following = window(period, end)
    assert following is not None
    assert following[0] == end
    assert window(period, end - timedelta(microseconds=1)) == found


@pytest.mark.parametrize("period", ["", "Day", "year", "00:30:00", "01:30:00", "-01:00:00", "400.00:00:00", "P1M"])
def test_what_is_no_period_has_none(period: str) -> None:
    assert window(period, datetime(2026, 1, 1, tzinfo=UTC)) is None
