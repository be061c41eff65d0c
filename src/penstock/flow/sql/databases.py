"""The databases that flows use: connections that are kept, and statements that run beside the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sql
from sqlalchemy.engine import Connection, CursorResult, Engine
from sqlalchemy.exc import SQLAlchemyError

from penstock.egress.address_guard import AddressGuard
from penstock.egress.database_address import DatabaseAddress, DatabaseFailed
from penstock.egress.local_folders import LocalFolders
from penstock.flow.parsing.references import DATA_SOURCE
from penstock.flow.sql.data_source import DataSource
from penstock.flow.sql.sql_query import BoundQuery, QueryFailed
from penstock.flow.variables import Variables
from penstock.kernel.errors import NotFound

_CONNECTIONS = 5
_THREADS = 16
_LONGEST_REASON = 500
T = TypeVar("T")


class Outcome(msgspec.Struct, frozen=True):
    """rows: of a query, None for a statement that has none. changed: how many rows a statement changed."""

    rows: list[dict[str, Any]] | None
    changed: int


class Databases:
    """All flows of an engine share its connections. A database that is not used any more keeps a few of them open."""

    def __init__(self, guard: AddressGuard, folders: LocalFolders) -> None:
        self._guard = guard
        self._folders = folders
        self._engines: dict[str, tuple[str, Engine]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="flow-sql")

    async def close(self) -> None:
        """Ends the connections; a statement that is still running ends on its own."""
        for _, engine in self._engines.values():
            await asyncio.to_thread(engine.dispose)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def open(self, source: DataSource, variables: Variables) -> "Database":
        """Raises NotFound without the variable, Forbidden, AddressRefused, DatabaseFailed."""
        name = f"{DATA_SOURCE}{source}"
        try:
            text = (await variables.get(name)).value
        except NotFound:
            raise NotFound(f"variable '{name}', the address of the data source '{source}', does not exist") from None
        try:
            address = DatabaseAddress.parse(text)
        except ValueError as error:
            raise DatabaseFailed(f"variable '{name}' {error}") from None
        engine = await self._engine(name, text, address)
        if address.url.password:
            variables.keep_secret(address.url.password)
        return Database(engine, address, self._threads)

    async def _engine(self, name: str, text: str, address: DatabaseAddress) -> Engine:
        """The one for the name, made anew when its address is another."""
        known = self._engines.get(name)
        if known is not None and known[0] == text:
            return known[1]
        # A file may be replaced, which a connection that is kept would not notice.
        connections = 0 if address.file is not None else _CONNECTIONS
        made = await address.engine(self._guard, self._folders.check, read_only=False, connections=connections)
        before = self._engines.get(name)
        self._engines[name] = (text, made)
        if before is not None:
            await asyncio.to_thread(before[1].dispose)
        return made


class Database:
    """One database, as an address leads to it."""

    def __init__(self, engine: Engine, address: DatabaseAddress, threads: ThreadPoolExecutor) -> None:
        self._engine = engine
        self._address = address
        self._threads = threads

    async def run(self, query: BoundQuery) -> Outcome:
        """Runs one statement, committed. Raises QueryFailed."""
        return await self._work(lambda connection: _outcome(_run(connection, query)))

    async def run_all(self, queries: Sequence[BoundQuery]) -> int:
        """Runs statements, all or none; answers how many rows they changed. Raises QueryFailed."""
        return await self._work(lambda connection: sum(max(_run(connection, query).rowcount, 0) for query in queries))

    async def _work(self, work: Callable[[Connection], T]) -> T:
        """Does the work in a transaction. Whoever is cancelled meanwhile ends the statement as well."""
        running: list[Connection] = []

        def within_transaction() -> T:
            with self._engine.begin() as connection:
                running.append(connection)
                return work(connection)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, within_transaction)
        except SQLAlchemyError as error:
            raise QueryFailed(self._address.masked(_reason(error))) from None
        except asyncio.CancelledError:
            if running:
                await asyncio.to_thread(_interrupt, running[0])
            raise


def _interrupt(connection: Connection) -> None:
    """Ends the statement that another thread waits for, where the driver can."""
    driver = connection.connection.driver_connection
    for name in ("cancel", "interrupt"):
        end = getattr(driver, name, None)
        if callable(end):
            end()
            return


def _run(connection: Connection, query: BoundQuery) -> CursorResult[Any]:
    return connection.execute(sql.text(query.text), query.values)


def _outcome(result: CursorResult[Any]) -> Outcome:
    if not result.returns_rows:
        return Outcome(None, max(result.rowcount, 0))
    names = list(result.keys())
    return Outcome([_row(names, row) for row in result], 0)


def _row(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: bytes(value) if isinstance(value, memoryview) else value for name, value in zip(names, row, strict=True)
    }


def _reason(error: SQLAlchemyError) -> str:
    """What the database says, without the values of the statement."""
    original = getattr(error, "orig", None)
    return str(original or error).strip().partition("\n")[0][:_LONGEST_REASON]
