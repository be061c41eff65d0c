"""Values of indexed columns: how they are kept and compared."""

import math
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

import msgspec

from penstock.kernel.errors import Invalid
from penstock.kernel.names import name_key
from penstock.kernel.wire import wire_name
from penstock.store.definition import Column, ColumnType, Value

# An index entry of PostgreSQL holds about 2,700 bytes.
LONGEST = 2000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(at: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (at - _EPOCH) // _MICROSECOND


def sql_name(column: Column[Any]) -> str:
    """The column's name in its table; the prefix keeps it apart from the store's own columns."""
    return f"c_{column.name}"


def comparable(column: Column[Any], value: Value) -> str | int | float | None:
    """The form that the column keeps and compares.

    Raises Invalid, naming the column, for what no database can hold: NUL or lone surrogates in text, not a number,
    integers beyond 64 bits.
    """
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return None
    match column.type:
        case ColumnType.INTEGER:
            return _integer(column, value)
        case ColumnType.REAL:
            return _real(column, value)
        case ColumnType.KEY:
            return _text(column, name_key(str(value)))
        case ColumnType.TEXT:
            return _text(column, str(value))


def storable(column: Column[Any], body: msgspec.Struct) -> str | int | float | None:
    """The column's value taken from `body`. Raises Invalid as `comparable`, and for text too long for an index."""
    value = comparable(column, column.of(body))
    if isinstance(value, str) and len(value.encode()) > LONGEST:
        raise Invalid.one(wire_name(column.name), f"must be at most {LONGEST} bytes")
    return value


def _integer(column: Column[Any], value: Value) -> int:
    number = micros(value) if isinstance(value, datetime) else int(value)  # type: ignore[arg-type]
    if not -(2**63) <= number < 2**63:
        raise Invalid.one(wire_name(column.name), "must be a 64-bit integer")
    return number


def _real(column: Column[Any], value: Value) -> float:
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number):
        raise Invalid.one(wire_name(column.name), "must be a number")
    return number


def _text(column: Column[Any], text: str) -> str:
    if "\0" in text or not _encodes(text):
        raise Invalid.one(wire_name(column.name), "must not contain NUL or lone surrogate characters")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
