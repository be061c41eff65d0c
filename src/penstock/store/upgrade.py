"""Bringing a database from what `penstock_schema` records to the definitions, in one transaction."""
# ruff: noqa: S608 - names come from definitions, which check_definitions allows; values are parameters.

from collections.abc import Sequence
from typing import Any

import msgspec
import structlog

from penstock.kernel.errors import Invalid
from penstock.store.body import decode
from penstock.store.column import sql_name, storable
from penstock.store.definition import Collection, Column, Journal
from penstock.store.dialect import Dialect
from penstock.store.migration import Migration
from penstock.store.schema import (
    RECORD,
    RecordedTable,
    add_columns,
    added_columns,
    check_definitions,
    create_table,
    drop_columns,
    index_columns,
    recorded,
)
from penstock.store.statement import Conflict, Statement, Steps

Definition = Collection[Any] | Journal[Any]
SETTING = "PENSTOCK_DATABASE_URL"
LAYOUT = 1
_AT_ONCE = 500
_log = structlog.get_logger(__name__)


class Upgrade:
    """One opening of one database.

    layout: the number of the tables' own build; raised when the columns that every table has change.
    """

    def __init__(self, dialect: Dialect, definitions: Sequence[Definition], migrations: Sequence[Migration]) -> None:
        check_definitions(definitions)
        if len({each.number for each in migrations}) < len(migrations):
            raise ValueError("two migrations have the same number")
        self._dialect = dialect
        self._definitions = definitions
        self._migrations = sorted(migrations, key=lambda each: each.number)

    def steps(self) -> Steps[None]:
        """Raises Invalid, naming the setting, when the database was written by a newer release or cannot follow."""
        text, mark = self._dialect.text, self._dialect.mark
        yield [
            Statement(
                f"CREATE TABLE IF NOT EXISTS {RECORD} (kind {text} NOT NULL, name {text} NOT NULL, "
                f"detail {text} NOT NULL, PRIMARY KEY (kind, name))"
            )
        ]
        [found] = yield [Statement(f"SELECT kind, name, detail FROM {RECORD}")]
        if not found.rows:
            yield [Statement(f"INSERT INTO {RECORD} VALUES ('layout', 'tables', {mark})", (str(LAYOUT),))]
        tables, done = _read_record(found.rows)
        yield from self._migrate(tables, done, new=not found.rows)
        for definition in self._definitions:
            yield from self._table(definition, tables.get(definition.name))

    def _migrate(self, tables: dict[str, RecordedTable], done: set[int], new: bool) -> Steps[None]:
        for migration in self._migrations:
            if migration.number in done:
                continue
            if not new and migration.table in tables:
                _log.info("migrating", number=migration.number, name=migration.name, table=migration.table)
                yield from self._rewrite(migration, tables[migration.table])
            yield [self._record("migration", str(migration.number), migration.name)]
        unknown = done - {each.number for each in self._migrations}
        if unknown:
            raise _cannot(f"was written by a newer release (migration {max(unknown)})")

    def _rewrite(self, migration: Migration, table: RecordedTable) -> Steps[None]:
        """Changes the bodies, and fills again the columns that stay as they are."""
        definition = next((each for each in self._definitions if each.name == migration.table), None)
        columns = _unchanged(definition, table) if definition else ()
        after = 0
        while rows := (yield from self._bodies(migration.table, after)):
            for seq, body in rows:
                changed = migration.apply(msgspec.json.decode(body))
                if changed is not None:
                    text = msgspec.json.encode(changed)
                    yield [
                        Statement(
                            f'UPDATE "{migration.table}" SET body = {self._dialect.mark} '
                            f"WHERE seq = {self._dialect.mark}",
                            (text, seq),
                        )
                    ]
                    if definition and columns:
                        yield [self._fill_row(definition, columns, seq, text)]
            after = rows[-1][0]

    def _table(self, definition: Definition, before: RecordedTable | None) -> Steps[None]:
        wanted = recorded(definition)
        if before == wanted:
            return
        if before is None:
            yield create_table(self._dialect, definition)
        elif before.kind != wanted.kind:
            raise _cannot(f"holds '{definition.name}' as a {before.kind}, wanted is a {wanted.kind}")
        else:
            yield from self._change_table(definition, before)
        yield [self._record(wanted.kind, definition.name, msgspec.json.encode(wanted).decode())]

    def _change_table(self, definition: Definition, before: RecordedTable) -> Steps[None]:
        columns = added_columns(definition, before)
        _log.info("changing a table", table=definition.name, adding=[each.name for each in columns])
        yield drop_columns(definition, before)
        if not columns:
            return
        yield add_columns(self._dialect, definition, columns)
        yield from self._fill(definition, columns)
        try:
            yield index_columns(self._dialect, definition, columns)
        except Conflict:
            names = " or ".join(each.name for each in columns if each.unique)
            raise _cannot(f"holds two of '{definition.name}' with the same {names}") from None

    def _fill(self, definition: Definition, columns: tuple[Column[Any], ...]) -> Steps[None]:
        after = 0
        while rows := (yield from self._bodies(definition.name, after)):
            yield [self._fill_row(definition, columns, seq, body) for seq, body in rows]
            after = rows[-1][0]

    def _fill_row(self, definition: Definition, columns: tuple[Column[Any], ...], seq: int, body: bytes) -> Statement:
        try:
            entity = decode(body, definition.type)
            values = [storable(column, entity) for column in columns]
        except (msgspec.ValidationError, Invalid) as error:
            raise _cannot(f"holds in '{definition.name}' (row {seq}) what cannot be read: {error}") from error
        assignments = ", ".join(f"{sql_name(column)} = {self._dialect.mark}" for column in columns)
        return Statement(
            f'UPDATE "{definition.name}" SET {assignments} WHERE seq = {self._dialect.mark}', (*values, seq)
        )

    def _bodies(self, table: str, after: int) -> Steps[list[tuple[int, bytes]]]:
        [found] = yield [
            Statement(
                f'SELECT seq, body FROM "{table}" WHERE seq > {self._dialect.mark} ORDER BY seq LIMIT {_AT_ONCE}',
                (after,),
            )
        ]
        return [(seq, body) for seq, body in found.rows]

    def _record(self, kind: str, name: str, detail: str) -> Statement:
        return Statement(
            f"INSERT INTO {RECORD} VALUES ({self._dialect.marks(3)}) "
            "ON CONFLICT (kind, name) DO UPDATE SET detail = excluded.detail",
            (kind, name, detail),
        )


def _read_record(rows: list[tuple[Any, ...]]) -> tuple[dict[str, RecordedTable], set[int]]:
    tables, done = {}, set()
    for kind, name, detail in rows:
        match kind:
            case "layout":
                if int(detail) > LAYOUT:
                    raise _cannot(f"was written by a newer release (layout {detail})")
            case "migration":
                done.add(int(name))
            case _:
                tables[name] = msgspec.json.decode(detail, type=RecordedTable)
    return tables, done


def _unchanged(definition: Definition, before: RecordedTable) -> tuple[Column[Any], ...]:
    added = added_columns(definition, before)
    return tuple(column for column in definition.columns if column not in added)


def _cannot(why: str) -> Invalid:
    return Invalid.one(SETTING, f"the database {why}")
