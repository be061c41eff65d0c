"""What the SQLite and PostgreSQL stores share: everything but how statements reach the database."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import starmap
from typing import Any
from uuid import UUID

from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.store.catalog import Catalog
from penstock.store.column import micros
from penstock.store.commit import commit, plan
from penstock.store.definition import Collection, Journal, Value
from penstock.store.dialect import Dialect
from penstock.store.statement import Found, R, Statement, Steps
from penstock.store.store import Bodies, Document, Documents, Rows, Where
from penstock.store.write import Write

_PURGE_AT_ONCE = 500


class SqlStore(ABC):
    """A Store but for `open`, `close` and `ready`.

    clock: decides what has expired.
    """

    def __init__(self, dialect: Dialect, clock: Clock) -> None:
        self._dialect = dialect
        self._clock = clock
        self._catalog = Catalog(dialect, (), ())

    @abstractmethod
    async def _read(self, statement: Statement) -> Found:
        """Runs a query that sees what is committed."""

    @abstractmethod
    async def _write(self, steps: Callable[[], Steps[R]]) -> R:
        """Runs a procedure in a transaction of its own; returns once durable.

        steps: makes the procedure, anew for each try.
        """

    async def commit(self, writes: Sequence[Write]) -> None:
        steps = plan(self._catalog, writes, self._now())
        await self._write(lambda: commit(steps))

    async def get(self, collection: Collection[Any], id: UUID) -> Document | None:
        rows = await self._read(self._catalog.table(collection).get(id, self._now()))
        return Document(*rows[0]) if rows else None

    async def find(self, collection: Collection[Any], column: str, value: Value) -> Document | None:
        try:
            statement = self._catalog.table(collection).find(column, value, self._now())
        except Invalid:  # what no column can hold, no document has
            return None
        rows = await self._read(statement)
        return Document(*rows[0]) if rows else None

    async def sealed(self, collection: Collection[Any], id: UUID) -> bytes | None:
        rows = await self._read(self._catalog.table(collection).sealed(id, self._now()))
        return rows[0][0] if rows else None

    async def all_sealed(self, collection: Collection[Any], ids: Sequence[UUID]) -> Mapping[UUID, bytes]:
        rows = await self._read(self._catalog.table(collection).all_sealed(ids, self._now()))
        return {UUID(id): sealed for id, sealed in rows}

    async def list(
        self,
        collection: Collection[Any],
        where: Sequence[Where] = (),
        *,
        skip: int = 0,
        limit: int = 1000,
        order: str | None = None,
    ) -> Documents:
        statement = self._catalog.table(collection).list(where, self._now(), skip, limit, order)
        return list(starmap(Document, await self._read(statement)))

    async def count(self, collection: Collection[Any], where: Sequence[Where] = ()) -> int:
        return _number(await self._read(self._catalog.table(collection).count(where, self._now())))

    async def values(self, collection: Collection[Any], columns: Sequence[str], where: Sequence[Where] = ()) -> Rows:
        return await self._read(self._catalog.table(collection).values(columns, where, self._now()))

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
        table = self._catalog.entries(journal)
        rows = await self._read(table.entries(where, since, until, skip, limit, oldest_first))
        return [row[0] for row in rows]

    async def entry(self, journal: Journal[Any], key: str) -> bytes | None:
        try:
            statement = self._catalog.entries(journal).entry(key)
        except Invalid:
            return None
        rows = await self._read(statement)
        return rows[0][0] if rows else None

    async def count_entries(self, journal: Journal[Any], where: Sequence[Where] = ()) -> int:
        return _number(await self._read(self._catalog.entries(journal).count(where)))

    async def purge(self, now: datetime, deleted_after: timedelta) -> int:
        before = micros(now - deleted_after)
        statements = [each.purge(before, _PURGE_AT_ONCE) for each in self._catalog.documents.values()]
        statements += [each for table in self._catalog.journals.values() if (each := table.purge(now, _PURGE_AT_ONCE))]
        return sum([await self._purge(each) for each in statements])

    async def _purge(self, statement: Statement) -> int:
        """Repeats a purge until it finds nothing: in small transactions, so that commits are not held up."""
        removed = 0
        while changed := await self._write(lambda: _changed(statement)):
            removed += changed
        return removed

    def _now(self) -> int:
        return micros(self._clock.now())


def _changed(statement: Statement) -> Steps[int]:
    result = yield statement
    return result.changed


def _number(rows: Found) -> int:
    return int(rows[0][0])
