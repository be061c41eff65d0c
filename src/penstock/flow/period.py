"""Lengths of time as Camel writes them."""

import re
from datetime import timedelta
from typing import Self

_PARTS = re.compile(r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,12})s)?(?:(\d{1,15})ms)?", re.ASCII)
_MILLISECONDS = re.compile(r"-?\d{1,15}", re.ASCII)
_LONGEST = timedelta(days=365_000)


class Period(timedelta):
    """A timedelta written as milliseconds (`1500`) or with units (`1h30m`, `5s`, `250ms`)."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError, with what is allowed, for anything else."""
        length = _length(text.strip())
        if length is None or length > _LONGEST:
            raise ValueError("must be milliseconds like 1500, or a time like 5s, 250ms or 1h30m")
        return cls(days=length.days, seconds=length.seconds, microseconds=length.microseconds)


def _length(text: str) -> timedelta | None:
    if _MILLISECONDS.fullmatch(text):
        return timedelta(milliseconds=int(text))
    parts = _PARTS.fullmatch(text)
    if parts is None or not text:
        return None
    days, hours, minutes, seconds, millis = (int(part or 0) for part in parts.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=millis)
