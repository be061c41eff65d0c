"""Reading the new rows of a table by a column whose values grow.

Rows become visible in the order of their commits, not of their values: the row 5 may appear after the row 6. So the
latest rows are looked at again each time, and those that are known are passed over.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import sqlalchemy as sql
from sqlalchemy.engine import Connection, Row

from penstock.connectors.database_value import restored, tagged

_PAGE = 500

Identity = tuple[Any, ...]
"""Of a row: the value of the growing column, then those of the key."""


@dataclass(frozen=True)
class Changes:
    """rows: those that are new, by column name. seen: the identities to be known next time. more: there are more."""

    rows: Sequence[tuple[Identity, dict[str, Any]]]
    seen: list[list[Any]]
    more: bool


class TableChanges:
    """column: grows. key: tells rows apart. columns: what is read of each row; none reads all.

    window: how many of the latest rows are looked at again.
    """

    def __init__(
        self,
        table: str,
        schema: str | None,
        column: str,
        key: Sequence[str],
        columns: Sequence[str],
        window: int,
    ) -> None:
        self._identity: list[sql.ColumnClause[Any]] = [sql.column(name) for name in dict.fromkeys([column, *key])]
        self._wanted: list[Any] = [sql.column(name) for name in columns] or [sql.text("*")]
        self._table = sql.table(table, schema=schema)
        self._window = window

    def newest(self, connection: Connection) -> list[list[Any]]:
        """The identities of the latest rows, the oldest first. Raises ValueError."""
        statement = (
            sql.select(*self._identity)
            .select_from(self._table)
            .where(self._identity[0].is_not(None))
            .order_by(*(column.desc() for column in self._identity))
            .limit(self._window)
        )
        return [_kept(tuple(row)) for row in reversed(connection.execute(statement).all())]

    def since(self, connection: Connection, seen: Sequence[list[Any]], most: int) -> Changes:
        """Up to `most` rows that are not among those seen. Raises ValueError."""
        known = {msgspec.json.encode(identity) for identity in seen}
        passed: deque[list[Any]] = deque(maxlen=self._window)
        rows: list[tuple[Identity, dict[str, Any]]] = []
        for identity, row in self._from(connection, _identity(seen[0]) if seen else None):
            kept = _kept(identity)
            if msgspec.json.encode(kept) not in known:
                if len(rows) == most:
                    return Changes(rows, list(passed), more=True)
                rows.append((identity, row))
            passed.append(kept)
        return Changes(rows, list(passed or seen), more=False)

    def _from(self, connection: Connection, first: Identity | None) -> Iterator[tuple[Identity, dict[str, Any]]]:
        """The rows at `first` and after it, in order, a page at a time."""
        condition = self._at_or_after(first) if first is not None else self._identity[0].is_not(None)
        while True:
            page = connection.execute(self._select(condition)).all()
            for row in page:
                yield self._parts(row)
            if len(page) < _PAGE:
                return
            condition = self._after(self._parts(page[-1])[0])

    def _select(self, condition: Any) -> Any:
        labelled = [column.label(f"penstock_{index}") for index, column in enumerate(self._identity)]
        statement = sql.select(*labelled, *self._wanted).select_from(self._table).where(condition)
        return statement.order_by(*self._identity).limit(_PAGE)

    def _parts(self, row: Row[Any]) -> tuple[Identity, dict[str, Any]]:
        count = len(self._identity)
        names = list(row._fields)[count:]
        return tuple(row[:count]), dict(zip(names, row[count:], strict=True))

    def _after(self, identity: Identity) -> Any:
        """Written out: not every database compares tuples."""
        ways = []
        for index, column in enumerate(self._identity):
            same = [before == value for before, value in zip(self._identity[:index], identity[:index], strict=True)]
            ways.append(sql.and_(*same, column > identity[index]))
        return sql.or_(*ways)

    def _at_or_after(self, identity: Identity) -> Any:
        same = sql.and_(*(column == value for column, value in zip(self._identity, identity, strict=True)))
        return sql.or_(self._after(identity), same)


def _kept(identity: Identity) -> list[Any]:
    return [tagged(value) for value in identity]


def _identity(kept: list[Any]) -> Identity:
    return tuple(restored(value) for value in kept)
