"""A collection as a table, and the statements over it."""
# ruff: noqa: S608 - names come from definitions, which check_definitions allows; values are parameters.

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from penstock.kernel.wire import encode
from penstock.store.column import comparable, micros, sql_name, storable
from penstock.store.condition import Conditions
from penstock.store.definition import Collection, Column, ColumnType, Value
from penstock.store.dialect import Dialect
from penstock.store.statement import Statement
from penstock.store.store import Where
from penstock.store.write import Delete, Insert, Replace


class DocumentTable:
    """Rows are live while neither deleted nor expired; unique indexes cover those not deleted.

    A row that expired still holds its unique values until `clear_expired` marks it deleted, for a statement that
    takes them.
    """

    def __init__(self, dialect: Dialect, collection: Collection[Any]) -> None:
        self.collection = collection
        self._mark = dialect.mark
        self._row_lock = dialect.row_lock
        self._nulls_first = dialect.nulls_first
        self._table = f'"{collection.name}"'
        self._columns = {column.name: column for column in collection.columns}
        self._unique = [column for column in collection.columns if column.unique]
        self._live = f"deleted_at IS NULL AND (expires_at IS NULL OR expires_at > {dialect.mark})"
        self._conditions = Conditions(dialect, _readable(collection))
        names = [sql_name(column) for column in collection.columns]
        self._insert_sql = (
            f"INSERT INTO {self._table} "
            f"({', '.join(['id', 'e_tag', 'body', 'sealed', 'created_at', 'expires_at', *names])}) "
            f"VALUES ({dialect.marks(6 + len(names))}) ON CONFLICT DO NOTHING"
        )
        self._set = ", ".join(f"{name} = {dialect.mark}" for name in ("e_tag", "body", "expires_at", *names))
        self._select = f"SELECT id, e_tag, body FROM {self._table} WHERE {self._live}"

    # Writes

    def clear_expired(self, write: Insert | Replace, now: int) -> Statement:
        """Frees the id and the unique values that `write` takes from rows that expired."""
        terms, params = [f"id = {self._mark}"], [str(write.id)]
        for column in self._unique:
            value: Any = comparable(column, column.of(write.body))
            if value is not None:
                terms.append(f"{sql_name(column)} = {self._mark}")
                params.append(value)
        return Statement(
            f"UPDATE {self._table} SET deleted_at = expires_at "
            f"WHERE deleted_at IS NULL AND expires_at <= {self._mark} AND ({' OR '.join(terms)})",
            (now, *params),
        )

    def insert(self, write: Insert) -> Statement:
        """Touches no row when the id or a unique value is taken."""
        return Statement(
            self._insert_sql,
            (
                str(write.id),
                write.e_tag,
                encode(write.body),
                write.sealed,
                micros(write.at),
                write.expires_at and micros(write.expires_at),
                *(storable(column, write.body) for column in self.collection.columns),
            ),
        )

    def lock(self, id: UUID, now: int) -> Statement:
        """The e_tag of the live document, which no other transaction changes until this one ends."""
        return Statement(
            f"SELECT e_tag FROM {self._table} WHERE id = {self._mark} AND {self._live}{self._row_lock}",
            (str(id), now),
        )

    def replace(self, write: Replace) -> Statement:
        seal = "" if write.keep_sealed else f", sealed = {self._mark}"
        return Statement(
            f"UPDATE {self._table} SET {self._set}{seal} WHERE id = {self._mark} AND deleted_at IS NULL",
            (
                write.e_tag,
                encode(write.body),
                write.expires_at and micros(write.expires_at),
                *(storable(column, write.body) for column in self.collection.columns),
                *(() if write.keep_sealed else (write.sealed,)),
                str(write.id),
            ),
        )

    def delete(self, write: Delete) -> Statement:
        return Statement(
            f"UPDATE {self._table} SET deleted_at = {self._mark} WHERE id = {self._mark} AND deleted_at IS NULL",
            (micros(write.at), str(write.id)),
        )

    def purge(self, before: int, limit: int) -> Statement:
        """Removes up to `limit` rows that were deleted or expired at `before` or earlier."""
        return Statement(
            f"DELETE FROM {self._table} WHERE seq IN (SELECT seq FROM {self._table} "
            f"WHERE deleted_at <= {self._mark} OR expires_at <= {self._mark} LIMIT {self._mark})",
            (before, before, limit),
        )

    # Reads

    def get(self, id: UUID, now: int) -> Statement:
        return Statement(f"{self._select} AND id = {self._mark}", (now, str(id)))

    def find(self, column: str, value: Value, now: int) -> Statement:
        """Raises ValueError unless the column is unique, Invalid for a value that no column can hold."""
        wanted = self._columns.get(column)
        if wanted is None or not wanted.unique:
            raise ValueError(f"'{column}' is not a unique column of {self.collection.name}")
        return Statement(f"{self._select} AND {sql_name(wanted)} = {self._mark}", (now, comparable(wanted, value)))

    def sealed(self, id: UUID, now: int) -> Statement:
        return Statement(f"SELECT sealed FROM {self._table} WHERE {self._live} AND id = {self._mark}", (now, str(id)))

    def all_sealed(self, ids: Sequence[UUID], now: int) -> Statement:
        terms, params = self._conditions.sql([Where("id", "in", [str(id) for id in ids])])
        return Statement(
            f"SELECT id, sealed FROM {self._table} WHERE {self._live} AND sealed IS NOT NULL{_and(terms)}",
            (now, *params),
        )

    def list(self, where: Sequence[Where], now: int, skip: int, limit: int, order: str | None) -> Statement:
        terms, params = self._conditions.sql(where)
        by = "created_at DESC, seq DESC" if order is None else self._ascending(order)
        return Statement(
            f"{self._select}{_and(terms)} ORDER BY {by} LIMIT {self._mark} OFFSET {self._mark}",
            (now, *params, limit, skip),
        )

    def _ascending(self, order: str) -> str:
        """The order of the column's index."""
        column = self._columns.get(order)
        ties = "seq" if column is not None and column.unique else "created_at, seq"
        return f"{self._conditions.name(order)} ASC{self._nulls_first}, {ties}"

    def count(self, where: Sequence[Where], now: int) -> Statement:
        terms, params = self._conditions.sql(where)
        return Statement(f"SELECT count(*) FROM {self._table} WHERE {self._live}{_and(terms)}", (now, *params))

    def values(self, columns: Sequence[str], where: Sequence[Where], now: int) -> Statement:
        terms, params = self._conditions.sql(where)
        names = ", ".join(self._conditions.name(column) for column in columns)
        return Statement(
            f"SELECT {names} FROM {self._table} WHERE {self._live}{_and(terms)} ORDER BY seq", (now, *params)
        )


_ID = Column[Any]("id", of=lambda body: body.id, type=ColumnType.KEY)
_E_TAG = Column[Any]("e_tag", of=lambda body: body.e_tag)


def _readable(collection: Collection[Any]) -> dict[str, tuple[str, Column[Any]]]:
    own = {"id": ("id", _ID), "e_tag": ("e_tag", _E_TAG)}
    return own | {column.name: (sql_name(column), column) for column in collection.columns}


def _and(terms: list[str]) -> str:
    return "".join(f" AND {term}" for term in terms)
