"""Reads and changes of the rows of a database's tables."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Engine, MetaData, Table, and_, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchTableError, SQLAlchemyError

from penstock_api_sql.http import Problem

Row = dict[str, Any]


class Tables:
    """The tables that are served, as the database describes them. Methods wait for the database: call in threads."""

    def __init__(self, engine: Engine, names: list[str]) -> None:
        """Raises ValueError for a table that does not exist, or has no primary key of one column."""
        self._engine = engine
        metadata = MetaData()
        try:
            if names:
                self.known = {name: Table(name, metadata, autoload_with=engine) for name in names}
            else:
                metadata.reflect(engine)
                self.known = {table.name: table for table in metadata.sorted_tables}
        except NoSuchTableError as error:
            raise ValueError(f"the table '{error}' does not exist") from None
        except SQLAlchemyError as error:
            # Its text may hold the address, and so the password.
            raise ValueError(f"the database cannot be read: {type(error).__name__}") from None

    def check(self) -> None:
        """Raises Problem when the database does not answer."""
        self._run(text("SELECT 1"))

    def find(self, table: Table, filters: Mapping[str, str], order: str, limit: int, offset: int) -> list[Row]:
        """Rows whose columns have the values."""
        column = self._column(table, order.removeprefix("-")) if order else key_of(table)
        conditions = [self._column(table, name) == _converted(table, name, value) for name, value in filters.items()]
        ordered = column.desc() if order.startswith("-") else column.asc()
        query = select(table).where(and_(True, *conditions)).order_by(ordered).limit(limit).offset(offset)
        return self._rows(query)

    def get(self, table: Table, key: str) -> Row:
        rows = self._rows(select(table).where(_is(table, key)))
        if not rows:
            raise Problem(404, f"{table.name} has no row '{key}'")
        return rows[0]

    def add(self, table: Table, fields: Row) -> Row:
        self._check_fields(table, fields)
        made = self._run(insert(table).values(**fields)).inserted_primary_key
        return self.get(table, str(made[0]))

    def change(self, table: Table, key: str, fields: Row) -> Row:
        self._check_fields(table, fields)
        if fields and not self._run(update(table).where(_is(table, key)).values(**fields)).rowcount:
            raise Problem(404, f"{table.name} has no row '{key}'")
        return self.get(table, str(fields.get(key_of(table).name, key)))

    def remove(self, table: Table, key: str) -> None:
        if not self._run(delete(table).where(_is(table, key))).rowcount:
            raise Problem(404, f"{table.name} has no row '{key}'")

    def _rows(self, query: Any) -> list[Row]:
        try:
            with self._engine.connect() as connection:
                return [dict(row._mapping) for row in connection.execute(query)]
        except SQLAlchemyError as error:
            raise _problem(error) from None

    def _run(self, statement: Any) -> Any:
        try:
            with self._engine.begin() as connection:
                return connection.execute(statement)
        except SQLAlchemyError as error:
            raise _problem(error) from None

    def _check_fields(self, table: Table, fields: Row) -> None:
        for name in fields:
            self._column(table, name)

    def _column(self, table: Table, name: str) -> Any:
        if name not in table.columns:
            raise Problem(400, f"{table.name} has no column '{name}'; it has {', '.join(table.columns.keys())}")
        return table.columns[name]


def key_of(table: Table) -> Any:
    """The column that names a row; Problem where there is no one column."""
    columns = list(table.primary_key.columns)
    if len(columns) != 1:
        raise Problem(400, f"{table.name} has no primary key of one column")
    return columns[0]


def _is(table: Table, key: str) -> ColumnElement[bool]:
    column = key_of(table)
    found: ColumnElement[bool] = column == _converted(table, column.name, key)
    return found


def _converted(table: Table, name: str, value: str) -> Any:
    """Text of an address as the column's type."""
    column = table.columns.get(name)
    wanted = column.type.python_type if column is not None else str
    try:
        return wanted(value) if wanted in (int, float) else value
    except ValueError:
        raise Problem(400, f"{name} must be a number") from None


def _problem(error: SQLAlchemyError) -> Problem:
    if isinstance(error, IntegrityError):
        return Problem(409, f"the database refuses it: {error.orig}")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return Problem(503, "the database is away")
    reason = getattr(error, "orig", None) or type(error).__name__
    return Problem(400, f"the database refuses it: {reason}")
