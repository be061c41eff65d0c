"""The due times of a cron expression on the wall clock: no time zone, no clock changes.

A wall-clock time is a count of seconds since 0001-01-01T00:00:00, a day a count of days since that date.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date
from functools import lru_cache

from penstock.kernel.cron_field import DAYS

DAY = 86_400  # seconds
_DAYS_OF_LENGTH = {28: (1 << 29) - 2, 29: (1 << 30) - 2, 30: (1 << 31) - 2, 31: (1 << 32) - 2}


@dataclass(frozen=True, slots=True)
class CronCalendar:
    """Which seconds of which days are due. Each field is a mask: bit n is set when value n is due.

    A day is due when its month, its day of month and its weekday (1 is Monday) are.
    """

    seconds: int
    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int

    def first_from(self, time: int) -> int | None:
        """The first due time at or after `time`; None when there is none up to year 9999."""
        day, second = divmod(time, DAY)
        due_day = self._first_day(day)
        if due_day == day:
            due_second = self._first_second(second)
            if due_second is not None:
                return day * DAY + due_second
            due_day = self._first_day(day + 1)
        if due_day is None:
            return None
        return due_day * DAY + _lowest(self.hours) * 3600 + _lowest(self.minutes) * 60 + _lowest(self.seconds)

    def count(self, begin: int, end: int) -> int:
        """How many times are due from `begin` to before `end`. Takes time per month in between, not per due time."""
        begin_day, begin_second = divmod(begin, DAY)
        end_day, end_second = divmod(end, DAY)
        count = self._count_days(begin_day, end_day) * self._count_before(DAY)
        if self._first_day(begin_day) == begin_day:
            count -= self._count_before(begin_second)
        if self._first_day(end_day) == end_day:
            count += self._count_before(end_second)
        return count

    def _first_second(self, second: int) -> int | None:
        """The first due second of the day at or after `second`."""
        hour, rest = divmod(second, 3600)
        minute, second = divmod(rest, 60)
        in_hour = self.hours >> hour & 1
        if in_hour and self.minutes >> minute & 1 and (left := self.seconds >> second):
            return hour * 3600 + minute * 60 + second + _lowest(left)
        if in_hour and (left := self.minutes >> minute + 1):
            return hour * 3600 + (minute + 1 + _lowest(left)) * 60 + _lowest(self.seconds)
        if left := self.hours >> hour + 1:
            return (hour + 1 + _lowest(left)) * 3600 + _lowest(self.minutes) * 60 + _lowest(self.seconds)
        return None

    def _count_before(self, second: int) -> int:
        """How many times of a due day are before that second of the day."""
        hour, rest = divmod(second, 3600)
        minute, second = divmod(rest, 60)
        per_minute = self.seconds.bit_count()
        count = _below(self.hours, hour) * self.minutes.bit_count() * per_minute
        if self.hours >> hour & 1:
            count += _below(self.minutes, minute) * per_minute
            if self.minutes >> minute & 1:
                count += _below(self.seconds, second)
        return count

    def _first_day(self, day: int) -> int | None:
        """The first due day at or after `day`."""
        begin = date.fromordinal(day + 1)
        for year, month in _months_from(begin):
            if not self.months >> month & 1:
                continue
            due = self._days_of(year, month)
            if (year, month) == (begin.year, begin.month):
                due = due >> begin.day << begin.day
            if due:
                return date(year, month, _lowest(due)).toordinal() - 1
        return None

    def _count_days(self, begin_day: int, end_day: int) -> int:
        """How many days are due from `begin_day` to before `end_day`."""
        begin, end = date.fromordinal(begin_day + 1), date.fromordinal(end_day + 1)
        count = 0
        for year, month in _months_from(begin):
            due = self._days_of(year, month) if self.months >> month & 1 else 0
            if (year, month) == (begin.year, begin.month):
                due = due >> begin.day << begin.day
            if (year, month) == (end.year, end.month):
                return count + _below(due, end.day)
            count += due.bit_count()
        return count

    def _days_of(self, year: int, month: int) -> int:
        """The due days of a month whose month is due, as a mask."""
        first_weekday, length = calendar.monthrange(year, month)
        return _month_patterns(self.days, self.weekdays)[first_weekday] & _DAYS_OF_LENGTH[length]


@lru_cache(maxsize=1024)
def _month_patterns(days: int, weekdays: int) -> tuple[int, ...]:
    """The due days of a 31-day month that begins on a Monday, on a Tuesday, ..."""
    return tuple(
        sum(1 << day for day in DAYS.values(days) if weekdays >> (first_weekday + day - 1) % 7 + 1 & 1)
        for first_weekday in range(7)
    )


def _months_from(begin: date) -> Iterator[tuple[int, int]]:
    year, month = begin.year, begin.month
    while year <= MAXYEAR:
        yield year, month
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


def _lowest(mask: int) -> int:
    """The position of the lowest set bit."""
    return (mask & -mask).bit_length() - 1


def _below(mask: int, position: int) -> int:
    """How many set bits are below the position."""
    return (mask & (1 << position) - 1).bit_count()
