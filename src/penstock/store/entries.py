"""A journal as a table, and the statements over it."""
# ruff: noqa: S608 - names come from definitions, which check_definitions allows; values are parameters.

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from penstock.kernel.wire import encode
from penstock.store.column import comparable, micros, sql_name, storable
from penstock.store.condition import Conditions
from penstock.store.definition import Column, Journal
from penstock.store.dialect import Dialect
from penstock.store.statement import Statement
from penstock.store.store import Where

_AT_ONCE = 100  # rows in one statement


class EntryTable:
    """Rows are inserted and purged, and changed only when what they were made from is read anew; `key` is unique."""

    def __init__(self, dialect: Dialect, journal: Journal[Any]) -> None:
        self.journal = journal
        self._mark = dialect.mark
        self._table = f'"{journal.name}"'
        self._key = Column[Any]("key", of=journal.key)
        self._conditions = Conditions(dialect, {column.name: (sql_name(column), column) for column in journal.columns})
        names = ["key", "at", "body", *(sql_name(column) for column in journal.columns)]
        self._insert_sql = f"INSERT INTO {self._table} ({', '.join(names)}) VALUES "
        self._row = f"({dialect.marks(len(names))})"
        changed = ", ".join(f"{name} = excluded.{name}" for name in names if name != "key")
        self._replace_sql = f" ON CONFLICT (key) DO UPDATE SET {changed}"

    def insert(self, entries: Sequence[msgspec.Struct], replace: bool) -> list[Statement]:
        """Entries whose key is present, or came before in `entries`, are passed over, unless they shall replace."""
        conflict = self._replace_sql if replace else " ON CONFLICT DO NOTHING"
        statements = []
        for start in range(0, len(entries), _AT_ONCE):
            part = entries[start : start + _AT_ONCE]
            rows = ", ".join([self._row] * len(part))
            params = [value for entry in part for value in self._values(entry)]
            statements.append(Statement(f"{self._insert_sql}{rows}{conflict}", params))
        return statements

    def _values(self, entry: msgspec.Struct) -> list[Any]:
        columns = (storable(column, entry) for column in self.journal.columns)
        return [storable(self._key, entry), micros(self.journal.at(entry)), encode(entry), *columns]

    def entries(
        self,
        where: Sequence[Where],
        since: datetime | None,
        until: datetime | None,
        skip: int,
        limit: int,
        oldest_first: bool,
    ) -> Statement:
        terms, params = self._conditions.sql(where)
        if since is not None:
            terms.append(f"at >= {self._mark}")
            params.append(micros(since))
        if until is not None:
            terms.append(f"at < {self._mark}")
            params.append(micros(until))
        direction = "ASC" if oldest_first else "DESC"
        return Statement(
            f"SELECT body FROM {self._table}{_where(terms)} ORDER BY at {direction}, seq {direction} "
            f"LIMIT {self._mark} OFFSET {self._mark}",
            (*params, limit, skip),
        )

    def entry(self, key: str) -> Statement:
        """Raises Invalid for a key that no column can hold."""
        return Statement(f"SELECT body FROM {self._table} WHERE key = {self._mark}", (comparable(self._key, key),))

    def count(self, where: Sequence[Where]) -> Statement:
        terms, params = self._conditions.sql(where)
        return Statement(f"SELECT count(*) FROM {self._table}{_where(terms)}", params)

    def purge(self, now: datetime, limit: int) -> Statement | None:
        """Removes up to `limit` entries older than the journal keeps; None when it keeps all."""
        if self.journal.keep is None:
            return None
        return Statement(
            f"DELETE FROM {self._table} WHERE seq IN "
            f"(SELECT seq FROM {self._table} WHERE at < {self._mark} LIMIT {self._mark})",
            (micros(now - self.journal.keep), limit),
        )


def _where(terms: list[str]) -> str:
    return f" WHERE {' AND '.join(terms)}" if terms else ""
