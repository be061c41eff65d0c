"""One field of a cron expression: what may stand in it, and its text read into a set of values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_ELEMENT = re.compile(r"(?:\*|([A-Za-z]+|\d+)(?:-([A-Za-z]+|\d+))?)(?:/(\d+))?", re.ASCII)
_SHOWN = 24  # characters of bad input that an error repeats


class CronError(ValueError):
    """The cron expression cannot be used. The message names the cron field and says what is allowed there."""


class CronValues(NamedTuple):
    """The values that a field names.

    mask: bit n is set when value n is named.
    spans: no value is left out, or an element runs over the whole field at an increment: `*`, `*/2`, `0/2` of hours.
    """

    mask: int
    spans: bool


@dataclass(frozen=True)
class CronField:
    """One of the six fields. `names` stand for the values from `low` on; `optional` fields may hold `?`."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    optional: bool = False

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def every(self) -> int:
        """The mask that leaves no value out."""
        return ((1 << self.size) - 1) << self.low

    def parse(self, text: str) -> CronValues:
        """Reads a list of `*`, values and ranges, each with or without an increment. Raises CronError.

        A range whose end is before its begin wraps around: FRI-MON is FRI, SAT, SUN, MON.
        """
        if text == "?" and self.optional:
            return CronValues(self.every, spans=True)
        mask, spans = 0, False
        for element in text.split(","):
            match = _ELEMENT.fullmatch(element)
            if match is None:
                raise self.error(text, f"cannot be read, allowed are {self._allowed} with {self._characters}")
            first, last, step = self._bounds(*match.groups())
            span = (last - first) % self.size
            for distance in range(0, span + 1, step):
                mask |= 1 << self.low + (first - self.low + distance) % self.size
            spans = spans or span == self.size - 1
        return CronValues(mask, spans or mask == self.every)

    def values(self, mask: int) -> Iterator[int]:
        """The values whose bits are set, ascending."""
        return (value for value in range(self.low, self.high + 1) if mask >> value & 1)

    def error(self, text: str, problem: str) -> CronError:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
        return CronError(f"{self.name}: '{shown}' {problem}")

    def _bounds(self, begin: str | None, end: str | None, increment: str | None) -> tuple[int, int, int]:
        """First value, last value and increment of one element; without `begin` it is `*`."""
        step = self._increment(increment) if increment else 1
        if begin is None:
            return self.low, self.high, step
        first = self._value(begin)
        if end is not None:
            return first, self._value(end), step
        return first, self.high if increment else first, step

    def _value(self, text: str) -> int:
        if text.upper() in self.names:
            return self.low + self.names.index(text.upper())
        if not text.isdigit():
            raise self.error(text, f"is not a value, allowed are {self._allowed}")
        value = _number(text)
        if not self.low <= value <= self.high:
            raise self.error(text, f"is out of range, allowed are {self._allowed}")
        return value

    def _increment(self, text: str) -> int:
        step = _number(text)
        if not 1 <= step <= self.high:
            raise self.error(f"/{text}", f"is not an increment, allowed are 1-{self.high}")
        return step

    @property
    def _allowed(self) -> str:
        return f"{self.low}-{self.high}" + (f" or {self.names[0]}-{self.names[-1]}" if self.names else "")

    @property
    def _characters(self) -> str:
        return "* ? - , /" if self.optional else "* - , /"


def _number(digits: str) -> int:
    # Only the leading digits of an absurdly long number: it is out of range all the same.
    return int(digits.lstrip("0")[:9] or "0")


SECONDS = CronField("seconds", 0, 59)
MINUTES = CronField("minutes", 0, 59)
HOURS = CronField("hours", 0, 23)
DAYS = CronField("day-of-month", 1, 31, optional=True)
MONTHS = CronField("month", 1, 12, ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"))
WEEKDAYS = CronField("day-of-week", 1, 7, ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"), optional=True)
