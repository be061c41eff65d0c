"""The wire form of durations: `[-][d.]hh:mm:ss[.fffffff]`, ISO 8601 accepted."""

import re
from datetime import timedelta

_CLOCK = re.compile(r"(-)?(?:(\d{1,8})\.)?(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.(\d{1,7}))?", re.ASCII)
_ISO = re.compile(
    r"([+-])?P(?:(\d{1,8})W)?(?:(\d{1,8})D)?(?:T(?:(\d{1,10})H)?(?:(\d{1,10})M)?(?:(\d{1,12})(?:[.,](\d{1,9}))?S)?)?",
    re.ASCII,
)
_LONGEST = timedelta(days=10_675_199)  # what 64 bits of 100 ns hold


class Duration(timedelta):
    """A timedelta whose wire form is `[-][d.]hh:mm:ss[.fffffff]`."""

    @classmethod
    def of(cls, delta: timedelta) -> "Duration":
        return cls(days=delta.days, seconds=delta.seconds, microseconds=delta.microseconds)

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Reads either form. Raises ValueError, with what is allowed, for anything else."""
        delta = _from_clock(text)
        if delta is None:
            delta = _from_iso(text)
        if delta is None or abs(delta) > _LONGEST:
            raise ValueError("must be a duration like '1.02:30:00' or 'PT1H30M' (no years or months)")
        return cls.of(delta)

    def __str__(self) -> str:
        sign = "-" if self < timedelta() else ""
        whole = abs(self)
        hours, rest = divmod(whole.seconds, 3600)
        days = f"{whole.days}." if whole.days else ""
        fraction = f".{whole.microseconds:06d}0" if whole.microseconds else ""
        return f"{sign}{days}{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{fraction}"


def _from_clock(text: str) -> timedelta | None:
    match = _CLOCK.fullmatch(text)
    if match is None or int(match[3]) > 23:
        return None
    sign, days, hours, minutes, seconds, fraction = match.groups()
    delta = timedelta(
        days=int(days or 0),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=_microseconds(fraction),
    )
    return -delta if sign else delta


def _from_iso(text: str) -> timedelta | None:
    match = _ISO.fullmatch(text)
    if match is None or text.endswith("T") or not any(match.groups()[1:]):
        return None
    sign, weeks, days, hours, minutes, seconds, fraction = match.groups()
    delta = timedelta(
        weeks=int(weeks or 0),
        days=int(days or 0),
        hours=int(hours or 0),
        minutes=int(minutes or 0),
        seconds=int(seconds or 0),
        microseconds=_microseconds(fraction),
    )
    return -delta if sign == "-" else delta


def _microseconds(fraction: str | None) -> int:
    return round(float(f"0.{fraction}") * 1_000_000) if fraction else 0
