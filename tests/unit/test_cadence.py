"""When event sources are polled."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.cadence import Cadence, cadence_errors
from penstock.kernel.cron import Cron

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
times = st.datetimes(datetime(2026, 1, 1), datetime(2026, 6, 1), timezones=st.just(UTC))
frequencies = st.timedeltas(SECOND, timedelta(days=3))


@given(times, times, frequencies)
def test_the_next_due_time_is_ahead_and_keeps_the_rhythm(last: datetime, now: datetime, frequency: timedelta) -> None:
    due = Cadence.of(frequency, None, UTC).next_due(last, now)
    assert due is not None
    assert now < due <= now + frequency
    if last <= now:
        assert (due - last) % frequency == timedelta()


@given(times, times)
def test_a_cron_expression_beats_a_frequency(last: datetime, now: datetime) -> None:
    zone = ZoneInfo("Europe/Berlin")
    due = Cadence.of(SECOND, "0 0 3 * * ?", zone).next_due(last, now)
    assert due == Cron.parse("0 0 3 * * ?").next_after(max(last, now), zone)


def test_it_is_30_seconds_when_nothing_is_said() -> None:
    assert Cadence.of(None, None, UTC).next_due(BEGIN, BEGIN) == BEGIN + timedelta(seconds=30)


def test_what_is_wrong_is_said_by_field() -> None:
    errors = cadence_errors(timedelta(milliseconds=1), "*", ("F", "C"))
    assert [error.field for error in errors] == ["F", "C"]
    assert cadence_errors(None, None, ("F", "C")) == []
