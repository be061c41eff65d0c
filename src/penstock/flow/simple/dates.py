"""Times written by the patterns of Java's SimpleDateFormat, and moments reckoned from another."""

import re
from datetime import datetime, timedelta

_FIELD = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", re.DOTALL)
_OFFSET = re.compile(r"(.+?)((?:[+-](?:\d+[dhms]+)+)+)", re.ASCII)
_STEP = re.compile(r"([+-])((?:\d+(?:ms|[dhms]))+)", re.ASCII)
_PART = re.compile(r"(\d+)(ms|[dhms])", re.ASCII)
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds"}
_LETTERS = "yMdHhmsSEaDzZXukK"


def check_pattern(pattern: str) -> None:
    """Raises ValueError for letters that are not known."""
    for match in _FIELD.finditer(pattern):
        if match[2] and match[2] not in _LETTERS:
            raise ValueError(f"pattern letter '{match[2]}' is not known (known: {', '.join(_LETTERS)})")
    if pattern.count("'") % 2:
        raise ValueError("the pattern has a quote without its counterpart")


def formatted(moment: datetime, pattern: str) -> str:
    """The moment in its own zone."""
    return "".join(_field(match, moment) for match in _FIELD.finditer(pattern))


def split_offset(command: str) -> tuple[str, timedelta]:
    """`now-24h` as `now` and what is to be added."""
    match = _OFFSET.fullmatch(command)
    if match is None:
        return command, timedelta()
    total = timedelta()
    for sign, parts in _STEP.findall(match[2]):
        length = sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in _PART.findall(parts)), timedelta())
        total += length if sign == "+" else -length
    return match[1], total


def _field(match: re.Match[str], moment: datetime) -> str:
    if match[1] is not None:
        return match[1].replace("''", "'") or "'"
    letter, width = match[2], len(match[0])
    if letter is None:
        return match[0]
    if letter in "EMzaZX":
        return _worded(letter, width, moment)
    numbers = {
        "y": moment.year % 100 if width == 2 else moment.year,
        "d": moment.day,
        "D": moment.timetuple().tm_yday,
        "H": moment.hour,
        "k": moment.hour or 24,
        "K": moment.hour % 12,
        "h": moment.hour % 12 or 12,
        "m": moment.minute,
        "s": moment.second,
        "S": moment.microsecond // 1000,
        "u": moment.isoweekday(),
    }
    return str(numbers[letter]).zfill(width)


def _worded(letter: str, width: int, moment: datetime) -> str:
    if letter == "E":
        return moment.strftime("%A" if width > 3 else "%a")
    if letter == "M":
        return moment.strftime("%B" if width > 3 else "%b") if width > 2 else str(moment.month).zfill(width)
    if letter == "a":
        return moment.strftime("%p")
    if letter == "z":
        return moment.strftime("%Z")
    offset = moment.strftime("%z")
    if letter == "Z":
        return offset
    if offset == "+0000":
        return "Z"
    return {1: offset[:3], 2: offset}.get(width, f"{offset[:3]}:{offset[3:]}")
