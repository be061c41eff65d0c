"""What is stored: collections of documents and append-only journals, defined once for every database."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)
Value = str | int | float | bool | datetime | None
"""What a column is filled from and compared with. Read back, a bool or datetime is an int; datetimes count
microseconds since 1970."""


class ColumnType(Enum):
    """How an indexed column is kept: TEXT, 64-bit INTEGER, REAL, or KEY (text compared without case)."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    KEY = "key"


@dataclass(frozen=True)
class Column(Generic[T]):
    """An indexed column beside the JSON body.

    of: takes the column's value from the body, so that columns can be filled anew from stored bodies. Stored rows
        follow a change of its result only after a Migration of the table, or under another name.
    unique: at most one live document has the value; a second one raises NameTaken.
    """

    name: str
    of: Callable[[T], Value]
    type: ColumnType = ColumnType.TEXT
    unique: bool = False


@dataclass(frozen=True)
class Collection(Generic[T]):
    """Documents of one type: a JSON body, as the HTTP API answers it, plus indexed columns.

    name: table name, snake_case, also the entity type in the audit log.
    """

    name: str
    type: type[T]
    columns: tuple[Column[T], ...] = ()


@dataclass(frozen=True)
class Journal(Generic[T]):
    """Append-only entries ordered by time.

    at: the entry's time, which reads filter and order by.
    key: identity of an entry; an entry whose key is present already is passed over, so appends may be repeated. A
    journal that is made from something else may have its entries replaced when it is made anew.
    keep: entries older than this are removed by `purge`; None keeps them.
    """

    name: str
    type: type[T]
    at: Callable[[T], datetime]
    key: Callable[[T], str]
    columns: tuple[Column[T], ...] = ()
    keep: timedelta | None = None
