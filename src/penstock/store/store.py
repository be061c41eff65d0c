"""The store as the services see it. SQLite and PostgreSQL implement it and pass one conformance suite."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

import msgspec

from penstock.store.body import decode as decode
from penstock.store.definition import Collection, Journal, Value
from penstock.store.migration import Migration
from penstock.store.write import Write


@dataclass(frozen=True)
class Where:
    """A condition on a column; documents also have the columns `id` and `e_tag`.

    op: one of = != < <= > >= in prefix. `in` takes a sequence of up to 30,000 values.
    None is equal to None only, and neither less nor greater than anything.
    """

    column: str
    op: str
    value: Value | Sequence[Value]


class Document(msgspec.Struct, frozen=True):
    """A stored document. key: the id as text. body: the JSON bytes, not decoded."""

    key: str
    e_tag: str
    body: bytes

    @property
    def id(self) -> UUID:
        return UUID(self.key)  # made when asked for: lists rarely do, and it costs more than the rest


Documents = list[Document]
Bodies = list[bytes]
Rows = list[tuple[Value, ...]]


class Store(Protocol):
    async def open(
        self,
        collections: Sequence[Collection[Any]],
        journals: Sequence[Journal[Any]],
        migrations: Sequence[Migration] = (),
    ) -> None:
        """Connects and brings the schema up to the definitions: new tables, new columns filled from the bodies.

        Columns and indexes that are no longer defined go, tables stay. Replicas may do this at once.
        Raises Unavailable when the database cannot be reached, Invalid when it is not one of Penstock's, was
        written by a newer release, or holds a body that cannot be read.
        """
        ...

    async def close(self) -> None:
        """Finishes the commits that were begun; later calls raise Unavailable."""
        ...

    async def ready(self) -> bool:
        """Whether the database answers a trivial query within a second."""
        ...

    async def commit(self, writes: Sequence[Write]) -> None:
        """All or none; returns once durable.

        Raises NameTaken, NotFound, Stale, Unavailable, and Invalid for a value that is too long for its column.
        """
        ...

    async def get(self, collection: Collection[Any], id: UUID) -> Document | None:
        """The live document, else None."""
        ...

    async def find(self, collection: Collection[Any], column: str, value: Value) -> Document | None:
        """The live document with this value in a unique column (KEY columns compare without case)."""
        ...

    async def sealed(self, collection: Collection[Any], id: UUID) -> bytes | None:
        """What was sealed beside the live document."""
        ...

    async def all_sealed(self, collection: Collection[Any], ids: Sequence[UUID]) -> Mapping[UUID, bytes]:
        """What was sealed beside live documents, of those that have something. ids: up to 30,000."""
        ...

    async def list(
        self,
        collection: Collection[Any],
        where: Sequence[Where] = (),
        *,
        skip: int = 0,
        limit: int = 1000,
        order: str | None = None,
    ) -> Documents:
        """Live documents, newest first by creation, or ascending by the column `order`."""
        ...

    async def count(self, collection: Collection[Any], where: Sequence[Where] = ()) -> int: ...

    async def values(self, collection: Collection[Any], columns: Sequence[str], where: Sequence[Where] = ()) -> Rows:
        """The values of indexed columns of all live documents, oldest first, bodies untouched.

        `id` and `e_tag` may be asked for. KEY columns come back in lower case, bools and datetimes as integers.
        """
        ...

    async def entries(
        self,
        journal: Journal[Any],
        where: Sequence[Where] = (),
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        skip: int = 0,
        limit: int = 1000,
        oldest_first: bool = False,
    ) -> Bodies:
        """The JSON bytes of entries with since <= time < until, newest first unless asked otherwise."""
        ...

    async def entry(self, journal: Journal[Any], key: str) -> bytes | None: ...

    async def count_entries(self, journal: Journal[Any], where: Sequence[Where] = ()) -> int: ...

    async def purge(self, now: datetime, deleted_after: timedelta) -> int:
        """Removes for good what was deleted or expired that long ago and journal entries past their keep."""
        ...
