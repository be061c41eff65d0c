"""A time zone as a row of stretches of time, each with one UTC offset."""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

ORIGIN = datetime(1, 1, 1, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 2, 9998  # within them no offset leads out of what datetime can hold
_LAST_DAY = date(_LAST_YEAR, 12, 31).toordinal() - 1
_DAY = 86_400  # seconds


class Stretch(NamedTuple):
    """From `start` to before `end`, in seconds of UTC since ORIGIN, local time is UTC plus `offset` seconds."""

    start: int
    end: int
    offset: int


def seconds_of(moment: datetime) -> int:
    """Whole seconds of an aware moment since ORIGIN."""
    since = moment - ORIGIN
    return since.days * _DAY + since.seconds


def moment_of(seconds: int) -> datetime:
    """The moment in UTC, that many seconds after ORIGIN."""
    return ORIGIN + timedelta(seconds=seconds)


def stretches(zone: tzinfo, start: int) -> Iterator[Stretch]:
    """The stretches that end after `start`, in order, for the years 2 to 9998. `zone` must be hashable.

    Neighbours may have the same offset: a stretch ends with the year.
    """
    first = date.fromordinal(min(max(start // _DAY, 0), _LAST_DAY) + 1).year
    for year in range(max(first, _FIRST_YEAR), _LAST_YEAR + 1):
        for stretch in _stretches_of_year(zone, year):
            if stretch.end > start:
                yield stretch


@lru_cache(maxsize=1024)
def _stretches_of_year(zone: tzinfo, year: int) -> tuple[Stretch, ...]:
    # tzinfo tells the offset of a moment but not when it changes next, so each day is probed:
    # no zone of the tz database changes its offset twice within six days.
    start, end = (seconds_of(datetime(begun, 1, 1, tzinfo=UTC)) for begun in (year, year + 1))
    offset = _offset(zone, start)
    found = []
    for probe in range(start + _DAY, end + 1, _DAY):
        if (new_offset := _offset(zone, probe)) != offset:
            change = _change(zone, offset, probe)
            found.append(Stretch(start, change, offset))
            start, offset = change, new_offset
    if start < end:
        found.append(Stretch(start, end, offset))
    return tuple(found)


def _change(zone: tzinfo, offset: int, probe: int) -> int:
    """The first second, up to `probe` and after the probe before it, at which the offset is not `offset`."""
    candidates = range(probe - _DAY, probe)
    return candidates.start + bisect_left(candidates, True, key=lambda at: _offset(zone, at) != offset)


def _offset(zone: tzinfo, seconds: int) -> int:
    offset = moment_of(seconds).astimezone(zone).utcoffset()
    return offset // timedelta(seconds=1) if offset is not None else 0
