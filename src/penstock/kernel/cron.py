"""Six-field cron expressions and when they are due: seconds minutes hours day-of-month month day-of-week.

The wall clock of the zone decides, and each of its times counts once:
- Times that a clock set forward passes over are due together, once, at the first instant after the gap.
  An expression for every hour has nothing to make up for and goes on.
- Times that a clock set back shows again are due at their first showing only, unless the hours run over the
  whole day (`*`, `*/2`, `0/2`): then they are due at both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import takewhile
from typing import NamedTuple, Self

from penstock.kernel.cron_calendar import CronCalendar
from penstock.kernel.cron_field import (
    DAYS,
    HOURS,
    MINUTES,
    MONTHS,
    SECONDS,
    WEEKDAYS,
    CronError,
)
from penstock.kernel.zone_stretch import moment_of, seconds_of, stretches

__all__ = ["Cron", "CronError"]

_FIELDS = (SECONDS, MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS)
_SHORT_MONTHS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_END = seconds_of(datetime.max.replace(tzinfo=UTC))
_LONGEST = 1000  # characters; every value of every field fits
_LOOK_BACK = 2 * 86_400  # seconds; no clock was ever set back by more than a day


class _Window(NamedTuple):
    """Wall-clock times from `begin` to before `end`, shown at one UTC offset.

    passed: where a clock set forward came from to show `begin`; else `begin`.
    """

    passed: int
    begin: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression. Equal when the text is; blanks between the fields do not count."""

    text: str
    _calendar: CronCalendar = field(repr=False, compare=False)
    _every_hour: bool = field(repr=False, compare=False)
    _repeats: bool = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads an expression. Raises CronError for one that is malformed or could never be due."""
        if len(text) > _LONGEST:
            raise CronError(f"must have at most {_LONGEST} characters")
        parts = text.split()
        if len(parts) != len(_FIELDS):
            names = " ".join(cron_field.name for cron_field in _FIELDS)
            raise CronError(f"must have 6 fields ({names}), not {len(parts)}")
        values = [cron_field.parse(part) for cron_field, part in zip(_FIELDS, parts, strict=True)]
        seconds, minutes, hours, days, months, weekdays = (value.mask for value in values)
        _check_days(parts, days, months, weekdays)
        return cls(
            text=" ".join(parts),
            _calendar=CronCalendar(seconds, minutes, hours, days, months, weekdays),
            _every_hour=hours == HOURS.every,
            _repeats=values[2].spans,
        )

    def __str__(self) -> str:
        return self.text

    def next_after(self, moment: datetime, zone: tzinfo) -> datetime | None:
        """The first due time after `moment`, in UTC; None when there is none before the year 9999.

        moment: aware. zone: hashable, as ZoneInfo and datetime.timezone are.
        """
        return next(self._due(seconds_of(moment) + 1, _END, zone), None)

    def between(self, after: datetime, until: datetime, zone: tzinfo) -> Iterator[datetime]:
        """Every due time with after < time <= until, ascending, in UTC."""
        return self._due(seconds_of(after) + 1, seconds_of(until) + 1, zone)

    def count_between(self, after: datetime, until: datetime, zone: tzinfo) -> int:
        """How many due times `between` has, counted by month and change of the clock, not one by one."""
        windows = self._windows(seconds_of(after) + 1, seconds_of(until) + 1, zone)
        return sum(self._count(window) for window in windows)

    def _due(self, start: int, end: int, zone: tzinfo) -> Iterator[datetime]:
        for window in self._windows(start, end, zone):
            time = self._calendar.first_from(window.passed)
            while time is not None and time < window.end:
                shown = max(time, window.begin)
                yield moment_of(shown - window.offset)
                time = self._calendar.first_from(shown + 1)

    def _count(self, window: _Window) -> int:
        first = self._calendar.first_from(window.passed)
        at_begin = first is not None and first <= window.begin
        return at_begin + self._calendar.count(window.begin + 1, window.end)

    def _windows(self, start: int, end: int, zone: tzinfo) -> Iterator[_Window]:
        """What the wall clock shows from `start` to before `end`, leaving out what is not to be due again."""
        reached = _furthest_before(start, zone)
        for stretch in stretches(zone, start):
            if stretch.start >= end:
                return
            passed = begin = max(stretch.start, start) + stretch.offset
            if reached < begin and not self._every_hour:
                passed = reached
            if reached > begin and not self._repeats:
                passed = begin = reached
            stop = min(stretch.end, end) + stretch.offset
            if begin < stop:
                yield _Window(passed, begin, stop, stretch.offset)
            reached = max(reached, stop)


def _furthest_before(moment: int, zone: tzinfo) -> int:
    """The latest time that the wall clock has shown before `moment`: later than its current one after a setback."""
    before = takewhile(lambda stretch: stretch.start < moment, stretches(zone, moment - _LOOK_BACK))
    return max((min(stretch.end, moment) + stretch.offset for stretch in before), default=moment)


def _check_days(parts: list[str], days: int, months: int, weekdays: int) -> None:
    """Raises CronError when both day fields leave days out, or when no month has any of the days."""
    if days != DAYS.every and weekdays != WEEKDAYS.every:
        raise WEEKDAYS.error(parts[5], f"cannot be combined with day-of-month '{parts[3]}', allowed beside it is ?")
    longest = max(_SHORT_MONTHS.get(month, 31) for month in MONTHS.values(months))
    if min(DAYS.values(days)) > longest:
        raise DAYS.error(parts[3], f"never comes in month '{parts[4]}', allowed there are 1-{longest}")
