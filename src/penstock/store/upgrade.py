"""Bringing a database from what `penstock_schema` records to the definitions, in one transaction."""
# ruff: noqa: S608 - names come from definitions, which check_definitions allows; values are parameters.

from collections.abc import Callable, Sequence
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
    check_definitions,
    create_table,
    drop_columns,
    index_columns,
    recorded,
    recorded_column,
)
from penstock.store.statement import Conflict, Statement, Steps, each_of

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
        text = self._dialect.text
        yield Statement(
            f"CREATE TABLE IF NOT EXISTS {RECORD} (kind {text} NOT NULL, name {text} NOT NULL, "
            f"detail {text} NOT NULL, PRIMARY KEY (kind, name))"
        )
        found = yield Statement(f"SELECT kind, name, detail FROM {RECORD}")
        if not found.rows:
            yield self._record("layout", "tables", str(LAYOUT))
        tables, done = _read_record(found.rows)
        rewritten = yield from self._migrate(tables, done)
        for definition in self._definitions:
            yield from self._table(definition, tables.get(definition.name), definition.name in rewritten)

    def _migrate(self, tables: dict[str, RecordedTable], done: set[int]) -> Steps[set[str]]:
        """Runs the migrations that are new here; returns the tables they rewrote. A new database has none yet."""
        if unknown := done - {each.number for each in self._migrations}:
            raise _cannot(f"was written by a newer release (migration {max(unknown)})")
        rewritten = set()
        for migration in self._migrations:
            if migration.number in done:
                continue
            if migration.table in tables:
                _log.info("migrating", number=migration.number, name=migration.name, table=migration.table)
                yield from self._rewrite(migration)
                rewritten.add(migration.table)
            yield self._record("migration", str(migration.number), migration.name)
        return rewritten

    def _rewrite(self, migration: Migration) -> Steps[None]:
        def change(seq: int, body: bytes) -> Statement | None:
            changed = migration.apply(msgspec.json.decode(body))
            if changed is None:
                return None
            return self._update(migration.table, ["body"], seq, [msgspec.json.encode(changed)])

        yield from self._each_row(migration.table, "1 = 1", change)

    def _table(self, definition: Definition, before: RecordedTable | None, rewritten: bool) -> Steps[None]:
        wanted = recorded(definition)
        if before == wanted and not rewritten:
            return
        if before is None:
            yield from each_of(create_table(self._dialect, definition))
        elif before.kind != wanted.kind:
            raise _cannot(f"holds '{definition.name}' as a {before.kind}, wanted is a {wanted.kind}")
        else:
            # Columns of bodies that were rewritten are made anew: on the way two may have the same unique value.
            kept = [] if rewritten else [each for each in before.columns if each in wanted.columns]
            yield from each_of(drop_columns(definition.name, [each for each in before.columns if each not in kept]))
            yield from self._add(definition, [each for each in definition.columns if recorded_column(each) not in kept])
        yield self._record(wanted.kind, definition.name, msgspec.json.encode(wanted).decode())

    def _add(self, definition: Definition, columns: list[Column[Any]]) -> Steps[None]:
        if not columns:
            return
        _log.info("filling columns", table=definition.name, columns=[each.name for each in columns])
        yield from each_of(add_columns(self._dialect, definition, columns))
        live = "deleted_at IS NULL" if isinstance(definition, Collection) else "1 = 1"
        names = [sql_name(column) for column in columns]

        def fill(seq: int, body: bytes) -> Statement:
            return self._update(definition.name, names, seq, _values(definition, columns, seq, body))

        yield from self._each_row(definition.name, live, fill)
        try:
            yield from each_of(index_columns(self._dialect, definition, columns))
        except Conflict:
            unique = " or ".join(each.name for each in columns if each.unique)
            raise _cannot(f"holds two of '{definition.name}' with the same {unique}") from None

    def _each_row(self, table: str, condition: str, change: Callable[[int, bytes], Statement | None]) -> Steps[None]:
        """Runs what `change` makes of each row's number and body, a few hundred rows at a time."""
        after, mark = 0, self._dialect.mark
        while True:
            found = yield Statement(
                f'SELECT seq, body FROM "{table}" WHERE seq > {mark} AND {condition} ORDER BY seq LIMIT {_AT_ONCE}',
                (after,),
            )
            if not found.rows:
                return
            yield from each_of(each for seq, body in found.rows if (each := change(seq, body)) is not None)
            after = found.rows[-1][0]

    def _update(self, table: str, columns: Sequence[str], seq: int, values: Sequence[Any]) -> Statement:
        assignments = ", ".join(f"{column} = {self._dialect.mark}" for column in columns)
        return Statement(f'UPDATE "{table}" SET {assignments} WHERE seq = {self._dialect.mark}', (*values, seq))

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


def _values(definition: Definition, columns: list[Column[Any]], seq: int, body: bytes) -> list[Any]:
    try:
        entity = decode(body, definition.type)
        return [storable(column, entity) for column in columns]
    except (msgspec.ValidationError, Invalid) as error:
        raise _cannot(f"holds in '{definition.name}' (row {seq}) what cannot be read: {error}") from error


def _cannot(why: str) -> Invalid:
    return Invalid.one(SETTING, f"the database {why}")
