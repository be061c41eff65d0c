"""Stretches of one UTC offset: they cover time without holes and tell what the zone tells."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.kernel.zone_stretch import moment_of, seconds_of, stretches

ZONES = ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Recife"]


def offset_at(zone: tzinfo, seconds: int) -> int:
    offset = moment_of(seconds).astimezone(zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


@given(st.sampled_from(ZONES).map(ZoneInfo), st.datetimes(datetime(1850, 1, 1), datetime(2150, 1, 1)))
@example(ZoneInfo("Africa/Sao_Tome"), datetime(1883, 12, 30))  # changes in the last hour of a UTC day
@example(ZoneInfo("America/Recife"), datetime(2000, 10, 8))  # changes twice within a week
def test_stretches_have_the_offset_that_the_zone_has_from_their_first_to_their_last_second(
    zone: ZoneInfo, start: datetime
) -> None:
    begin = seconds_of(start.replace(tzinfo=UTC))
    found = list(islice(stretches(zone, begin), 6))
    assert found[0].start <= begin < found[0].end
    for stretch, following in pairwise(found):
        assert stretch.end == following.start
        for second in (stretch.start, (stretch.start + stretch.end) // 2, stretch.end - 1):
            assert offset_at(zone, second) == stretch.offset


def test_a_stretch_ends_with_the_second_before_the_clocks_change() -> None:
    summer = seconds_of(datetime(2026, 7, 1, tzinfo=UTC))
    stretch = next(stretches(ZoneInfo("Europe/Berlin"), summer))
    assert moment_of(stretch.start) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert moment_of(stretch.end) == datetime(2026, 10, 25, 1, tzinfo=UTC)
    assert stretch.offset == 7200
    following = next(stretches(ZoneInfo("Europe/Berlin"), stretch.end))
    assert (following.start, following.offset) == (stretch.end, 3600)


@pytest.mark.parametrize("hours", [-23, -5, 0, 14])
def test_a_fixed_offset_never_changes(hours: int) -> None:
    zone = timezone(timedelta(hours=hours, minutes=30))
    offsets = {stretch.offset for stretch in islice(stretches(zone, seconds_of(datetime(2026, 1, 1, tzinfo=UTC))), 50)}
    assert offsets == {round(zone.utcoffset(None).total_seconds())}


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
def test_the_ends_of_the_calendar_do_not_overflow(moment: datetime) -> None:
    start = seconds_of(moment.replace(tzinfo=UTC))
    found = list(islice(stretches(ZoneInfo("America/New_York"), start), 1))
    assert all(stretch.end > start for stretch in found)
