"""The store on PostgreSQL: a pool of connections, each commit one transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import psycopg
import structlog
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import Invalid, Unavailable
from penstock.store.catalog import Catalog
from penstock.store.definition import Collection, Journal
from penstock.store.dialect import POSTGRES
from penstock.store.migration import Migration
from penstock.store.sql_store import SqlStore
from penstock.store.statement import Conflict, Found, R, Result, Statement, Steps
from penstock.store.upgrade import SETTING, Upgrade

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
_log = structlog.get_logger(__name__)
_UPGRADE_LOCK = 0x50454E53544F434B  # any number that all replicas agree on
_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": 5,
    # A server whose machine vanished is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_TRIES = 10
_AWAY = (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction)
_AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)
_OTHER_SCHEMA = (errors.UndefinedTable, errors.UndefinedColumn)
_REFUSED = (errors.DuplicateTable, errors.InsufficientPrivilege, errors.InvalidSchemaName)


class PostgresStore(SqlStore):
    """A Store in one database, in the schema that its connections create tables in.

    connections: at most as many are open at once.
    url: its options win over those set here.
    patience: seconds to wait for a connection before the database counts as away.
    """

    def __init__(self, url: str, clock: Clock | None = None, connections: int = 10, patience: float = 3.0) -> None:
        super().__init__(POSTGRES, clock or SystemClock())
        self._url = url
        given = conninfo_to_dict(url)
        self._options = {name: value for name, value in _OPTIONS.items() if name not in given}
        self._connections = connections
        self._patience = patience
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._probe: asyncio.Task[Found] | None = None

    async def open(
        self,
        collections: Sequence[Collection[Any]],
        journals: Sequence[Journal[Any]],
        migrations: Sequence[Migration] = (),
    ) -> None:
        await self._upgrade(Upgrade(POSTGRES, [*collections, *journals], migrations))
        self._catalog = Catalog(POSTGRES, collections, journals)
        self._pool = AsyncConnectionPool(
            self._url,
            kwargs=self._options,
            min_size=1,
            max_size=self._connections,
            timeout=self._patience,
            # Tries follow each other ever more slowly; given up soon, the next request begins them anew.
            reconnect_timeout=self._patience,
            open=False,
        )
        await self._pool.open()

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.wait({self._probe})

    async def ready(self) -> bool:
        # Taking a query back from a server that hangs takes seconds, so the answer does not wait for that.
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._read(Statement("SELECT 1")))
        done, _ = await asyncio.wait({self._probe}, timeout=1)
        if not done:
            self._probe.cancel()
            return False
        return not self._probe.cancelled() and self._probe.exception() is None

    async def _read(self, statement: Statement) -> Found:
        async def query(connection: Connection) -> Found:
            cursor = await connection.execute(statement.sql.encode(), statement.params, binary=True)
            return await cursor.fetchall()

        return await self._on_connection(query)

    async def _write(self, steps: Callable[[], Steps[R]]) -> R:
        return await self._on_connection(lambda connection: _transact(connection, steps()))

    async def _on_connection(self, work: Callable[[Connection], Awaitable[R]]) -> R:
        """Runs `work`, and again after a deadlock or when the connection had died. Raises Unavailable.

        Every connection of the pool may have died with the server: each try takes one of them out.
        """
        if self._pool is None:
            raise Unavailable("the store is closed")
        for attempt in range(1, _TRIES + self._connections):
            lost = False
            try:
                async with self._pool.connection() as connection:
                    try:
                        return await work(connection)
                    finally:
                        lost = connection.broken
            except _AGAIN:
                await asyncio.sleep(0.001 * attempt)  # lets the other transaction finish
            except _AWAY as error:
                if not lost:
                    raise _unavailable(error) from error
            except _OTHER_SCHEMA as error:
                _log.error("the database has another schema", error=str(error))
                raise Unavailable("the database was changed by another release") from error
        raise Unavailable("the database does not answer")

    async def _upgrade(self, upgrade: Upgrade) -> None:
        try:
            async with await Connection.connect(self._url, **self._options) as connection:
                if connection.info.parameter_status("server_encoding") != "UTF8":
                    raise Invalid.one(SETTING, "the database must have the encoding UTF8")
                await _transact(connection, _one_at_a_time(upgrade))
        except _REFUSED as error:
            raise Invalid.one(SETTING, f"the database refuses: {error.diag.message_primary}") from error
        except _AWAY as error:
            raise _unavailable(error) from error


def _one_at_a_time(upgrade: Upgrade) -> Steps[None]:
    """Replicas that start together wait here for each other."""
    yield Statement(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})")
    yield from upgrade.steps()


async def _transact(connection: Connection, steps: Steps[R]) -> R:
    """Drives a procedure and commits. Raises Unavailable when the connection is lost at COMMIT.

    Whether it was committed is then unknown, so that it must not be tried again.
    """
    committing = False
    try:
        async with connection.transaction():
            result = await _drive(connection, steps)
            committing = True
    except _AGAIN:
        raise
    except _AWAY as error:
        if committing:
            raise _unavailable(error) from error
        raise
    return result


async def _drive(connection: Connection, steps: Steps[R]) -> R:
    try:
        statement = next(steps)
        while True:
            try:
                result = await _execute(connection, statement)
            except errors.UniqueViolation:
                steps.throw(Conflict())
                raise
            statement = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _execute(connection: Connection, statement: Statement) -> Result:
    # One by one: psycopg 3.3 hangs in a pipeline when a statement is larger than the socket's buffer, and on the same
    # machine a pipeline was no faster.
    cursor = await connection.execute(statement.sql.encode(), statement.params, binary=True)
    return Result(await cursor.fetchall() if cursor.description else [], cursor.rowcount)


def _unavailable(error: Exception) -> Unavailable:
    _log.warning("the database does not answer", error=str(error))
    return Unavailable("the database does not answer")
