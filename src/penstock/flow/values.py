"""Values of messages as Java has them: as texts, and as conditions."""

from collections.abc import Mapping
from datetime import UTC, datetime

from penstock.flow.failures.errors import java_names

_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7


def text_of(value: object) -> str:
    """A value as a text, as Camel's type converter writes it; None is empty."""
    return "" if value is None else shown(value)


def shown(value: object) -> str:
    """A value as Java's toString writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime):
        return _date(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{shown(key)}={shown(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(inner) for inner in value) + "]"
    if isinstance(value, BaseException):
        return f"{java_names(value)[0]}: {value}"
    return str(value)


def is_true(value: object) -> bool:
    """Whether a value counts as a condition that holds: a text when it reads `true`, and whatever there is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value.strip().lower()
        return text != "false" and bool(text)
    if isinstance(value, list | tuple):
        return bool(value)
    return value is not None


def _double(value: float) -> str:
    """As Double.toString: plain from 1e-3 up to 1e7, else like 1.5E10."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return repr(value)
    digits, _, exponent = f"{value!r}".partition("e")
    if not exponent:  # repr is plain further than Java is
        digits, _, exponent = f"{value:.{len(repr(abs(value)).replace('.', '').strip('0')) - 1}e}".partition("e")
    if "." not in digits:
        digits += ".0"
    return f"{digits}E{int(exponent)}"


def _date(value: datetime) -> str:
    """As Date.toString, in the time's own zone: `Sun Mar 01 12:00:00 UTC 2026`."""
    zoned = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return zoned.strftime("%a %b %d %H:%M:%S %Z %Y")
