"""The wire form of durations: `[-][d.]hh:mm:ss[.fffffff]`, ISO 8601 accepted."""

import re
from datetime import timedelta
from decimal import Decimal

_CLOCK = re.compile(r"(-)?(?:(\d{1,8})\.)?(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.(\d{1,7}))?", re.ASCII)
_NUMBER = r"(\d{1,12}(?:[.,]\d{1,9})?)"
_ISO = re.compile(
    rf"([+-])?P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?", re.ASCII
)
_ISO_UNITS = (604_800, 86_400, 3_600, 60, 1)  # seconds
_SECOND = 1_000_000  # microseconds
_LONGEST = (2**63 - 1) // 10  # microseconds; what 64 bits of 100 ns hold


class Duration(timedelta):
    """A timedelta whose wire form is `[-][d.]hh:mm:ss[.fffffff]`."""

    @classmethod
    def of(cls, delta: timedelta) -> "Duration":
        return cls(days=delta.days, seconds=delta.seconds, microseconds=delta.microseconds)

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Reads either form; what is below a microsecond is dropped. Raises ValueError for anything else."""
        microseconds = _from_clock(text)
        if microseconds is None:
            microseconds = _from_iso(text)
        if microseconds is None or abs(microseconds) > _LONGEST:
            raise ValueError("must be a duration like '1.02:30:00' or 'PT1H30M' (no years or months)")
        return cls(microseconds=microseconds)

    def __str__(self) -> str:
        sign = "-" if self < timedelta() else ""
        whole = abs(self)
        hours, rest = divmod(whole.seconds, 3600)
        days = f"{whole.days}." if whole.days else ""
        fraction = f".{whole.microseconds:06d}0" if whole.microseconds else ""
        return f"{sign}{days}{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{fraction}"


def _from_clock(text: str) -> int | None:
    """Microseconds of `[-][d.]hh:mm:ss[.fffffff]`."""
    match = _CLOCK.fullmatch(text)
    if match is None or int(match[3]) > 23:
        return None
    sign, days, hours, minutes, seconds, fraction = match.groups()
    whole = ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    microseconds = whole * _SECOND + int((fraction or "0").ljust(6, "0")[:6])
    return -microseconds if sign else microseconds


def _from_iso(text: str) -> int | None:
    """Microseconds of an ISO 8601 duration; only its last number may have a fraction."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    sign, *numbers = match.groups()
    given = [
        (Decimal(number.replace(",", ".")), unit) for number, unit in zip(numbers, _ISO_UNITS, strict=True) if number
    ]
    if not given or any(number % 1 for number, _ in given[:-1]):
        return None
    microseconds = int(sum(number * unit * _SECOND for number, unit in given))
    return -microseconds if sign == "-" else microseconds
