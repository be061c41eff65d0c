"""Values of database columns as JSON: to be read back as they were, or to be read by people and programs."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

_FORMS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "int": (int, int, int),
    "float": (float, float, float),
    "text": (str, str, str),
    "bytes": (bytes, lambda value: b64encode(value).decode(), b64decode),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "uuid": (UUID, str, UUID),
}
"""Name -> type, how it is written, how it is read."""


def tagged(value: Any) -> list[Any]:
    """The value with its type, for `restored`. Raises ValueError for a type that cannot be compared later."""
    if isinstance(value, bytearray | memoryview):
        value = bytes(value)
    for name, (kind, write, _) in _FORMS.items():
        if type(value) is kind:
            return [name, write(value)]
    raise ValueError(f"values of type {type(value).__name__} have no order that can be kept")


def restored(value: list[Any]) -> Any:
    """What `tagged` was given."""
    name, written = value
    return _FORMS[name][2](written)


def plain(value: Any) -> Any:
    """The value as JSON: numbers beyond JSON's and times as text, bytes in base64."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value - value == 0 else str(value)
        case bytes() | bytearray() | memoryview():
            return b64encode(bytes(value)).decode()
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case dict():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
    return str(value)
