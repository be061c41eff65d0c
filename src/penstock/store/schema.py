"""The tables that definitions ask for, and the statements from one definition to the next."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.store.column import sql_name
from penstock.store.definition import Collection, Column, Journal
from penstock.store.dialect import Dialect
from penstock.store.statement import Statement

RECORD = "penstock_schema"
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_LONGEST_NAME = 60  # of an index; PostgreSQL cuts names at 63
_LIVE = "WHERE deleted_at IS NULL"


class RecordedColumn(msgspec.Struct, frozen=True):
    """A column as `penstock_schema` remembers it."""

    name: str
    type: str
    unique: bool


class RecordedTable(msgspec.Struct, frozen=True):
    """A table as `penstock_schema` remembers it; kind is `collection` or `journal`."""

    kind: str
    columns: tuple[RecordedColumn, ...]


def check_definitions(definitions: Sequence[Collection[Any] | Journal[Any]]) -> None:
    """Raises ValueError for names that no table can have, or that two have."""
    seen = {RECORD}
    for definition in definitions:
        if definition.name in seen:
            raise ValueError(f"two tables are named '{definition.name}'")
        seen.add(definition.name)
        names = [column.name for column in definition.columns]
        if len(set(names)) < len(names) or {"id", "e_tag"} & set(names):
            raise ValueError(f"'{definition.name}' defines a column twice, or one named id or e_tag")
        for name in (definition.name, *names):
            if not _NAME.fullmatch(name) or len(_index(definition.name, name)) > _LONGEST_NAME:
                raise ValueError(f"'{name}' is no name for a table or column, or too long a one")
        if isinstance(definition, Journal) and any(column.unique for column in definition.columns):
            raise ValueError(f"journal '{definition.name}': only the key of an entry is unique")


def recorded(definition: Collection[Any] | Journal[Any]) -> RecordedTable:
    """What is remembered of a definition once its table matches it."""
    kind = "collection" if isinstance(definition, Collection) else "journal"
    return RecordedTable(kind, tuple(recorded_column(column) for column in definition.columns))


def recorded_column(column: Column[Any]) -> RecordedColumn:
    return RecordedColumn(column.name, column.type.value, column.unique)


def create_table(dialect: Dialect, definition: Collection[Any] | Journal[Any]) -> list[Statement]:
    """A new table with its indexes."""
    fixed = _document_columns(dialect) if isinstance(definition, Collection) else _entry_columns(dialect)
    own = [f"{sql_name(column)} {dialect.type_of(column.type)}" for column in definition.columns]
    table = definition.name
    statements = [f'CREATE TABLE "{table}" ({", ".join([*fixed, *own])})']
    if isinstance(definition, Collection):
        statements += [
            f'CREATE UNIQUE INDEX "{table}.id" ON "{table}" (id) {_LIVE}',
            f'CREATE INDEX "{table}.created" ON "{table}" (created_at, seq) {_LIVE}',
            f'CREATE INDEX "{table}.deleted" ON "{table}" (deleted_at) WHERE deleted_at IS NOT NULL',
            f'CREATE INDEX "{table}.expires" ON "{table}" (expires_at) WHERE expires_at IS NOT NULL',
        ]
    else:
        statements.append(f'CREATE INDEX "{table}.at" ON "{table}" (at, seq)')
    statements += [_create_index(dialect, definition, column) for column in definition.columns]
    return [Statement(each) for each in statements]


def drop_columns(table: str, columns: Sequence[RecordedColumn]) -> list[Statement]:
    """Drops columns and their indexes."""
    statements = []
    for column in columns:
        statements.append(Statement(f'DROP INDEX "{_index(table, column.name)}"'))
        statements.append(Statement(f'ALTER TABLE "{table}" DROP COLUMN c_{column.name}'))
    return statements


def add_columns(
    dialect: Dialect, definition: Collection[Any] | Journal[Any], columns: Sequence[Column[Any]]
) -> list[Statement]:
    """Adds columns, empty and without index so far."""
    return [
        Statement(f'ALTER TABLE "{definition.name}" ADD COLUMN {sql_name(each)} {dialect.type_of(each.type)}')
        for each in columns
    ]


def index_columns(
    dialect: Dialect, definition: Collection[Any] | Journal[Any], columns: Sequence[Column[Any]]
) -> list[Statement]:
    """Indexes columns that have been filled."""
    return [Statement(_create_index(dialect, definition, each)) for each in columns]


def _document_columns(dialect: Dialect) -> list[str]:
    return [
        f"seq {dialect.serial}",
        f"id {dialect.text} NOT NULL",
        f"e_tag {dialect.text} NOT NULL",
        f"body {dialect.blob} NOT NULL",
        f"sealed {dialect.blob}",
        f"created_at {dialect.integer} NOT NULL",
        f"expires_at {dialect.integer}",
        f"deleted_at {dialect.integer}",
    ]


def _entry_columns(dialect: Dialect) -> list[str]:
    return [
        f"seq {dialect.serial}",
        f"key {dialect.text} NOT NULL UNIQUE",
        f"at {dialect.integer} NOT NULL",
        f"body {dialect.blob} NOT NULL",
    ]


def _create_index(dialect: Dialect, definition: Collection[Any] | Journal[Any], column: Column[Any]) -> str:
    index, table, name = _index(definition.name, column.name), definition.name, sql_name(column)
    if isinstance(definition, Journal):
        return f'CREATE INDEX "{index}" ON "{table}" ({name}, at, seq)'
    if column.unique:
        return f'CREATE UNIQUE INDEX "{index}" ON "{table}" ({name} ASC{dialect.nulls_first}) {_LIVE}'
    # One index serves both orders of a list: by this column, and newest first among equal values.
    return f'CREATE INDEX "{index}" ON "{table}" ({name} ASC{dialect.nulls_first}, created_at, seq) {_LIVE}'


def _index(table: str, column: str) -> str:
    return f"{table}.c_{column}"
