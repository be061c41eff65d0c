"""Values as other types, by the names that Java has for them."""

import re
from collections.abc import Callable

from penstock.flow.failures.errors import FlowError
from penstock.flow.values import shown, text_of

_TRUE, _FALSE = "true", "false"
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


class NotConvertible(FlowError):
    """A value cannot be had as the type that is asked for."""

    code = "not-convertible"
    title = "The value cannot be converted"
    java = ("org.apache.camel.TypeConversionException", "org.apache.camel.NoTypeConversionAvailableException")


def whole(value: object) -> int | None:
    """The value as a whole number, fractions cut off; None when it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if value == value and abs(value) != float("inf") else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return None


def number(value: object) -> float | None:
    """The value as a number; None when it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    return None


def truth(value: object) -> bool | None:
    """The value as true or false; None when it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in (_TRUE, _FALSE):
        return value.strip().lower() == _TRUE
    return None


def _octets(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | bytearray) else text_of(value).encode()


_TYPES: dict[str, Callable[[object], object]] = {
    **dict.fromkeys(("String", "java.lang.String"), text_of),
    **dict.fromkeys(("int", "Integer", "java.lang.Integer", "long", "Long", "java.lang.Long"), whole),
    **dict.fromkeys(("double", "Double", "java.lang.Double", "float", "Float", "java.lang.Float"), number),
    **dict.fromkeys(("boolean", "Boolean", "java.lang.Boolean"), truth),
    "byte[]": _octets,
    **dict.fromkeys(("Object", "java.lang.Object"), lambda value: value),
}

TYPES = tuple(_TYPES)
"""Names of the types that `converted` knows."""


def converted(value: object, kind: str) -> object:
    """The value as the type; None stays None. Raises NotConvertible."""
    if value is None:
        return None
    answer = _TYPES[kind](value)
    if answer is None:
        raise NotConvertible(f"'{shown(value)[:100]}' cannot be converted to {kind}")
    return answer
