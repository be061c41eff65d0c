"""The store on SQLite: one file, one writer thread, readers that never wait for it."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import Invalid, Unavailable
from penstock.store.catalog import Catalog
from penstock.store.definition import Collection, Journal
from penstock.store.dialect import SQLITE
from penstock.store.group_commit import GroupCommit
from penstock.store.migration import Migration
from penstock.store.sql_store import SqlStore
from penstock.store.sqlite_errors import away, primary_code
from penstock.store.sqlite_inline import InlineReader
from penstock.store.sqlite_readers import SqliteReaders
from penstock.store.statement import Conflict, Found, R, Result, Statement, Steps
from penstock.store.upgrade import SETTING, Upgrade

APPLICATION_ID = 0x50454E53  # "PENS", in the file's header
_READERS = 4
_PAUSE = 0.02
_WAL_KEPT = 64 * 1024 * 1024  # bytes; a long read may have let it grow beyond
_INLINE_BUSY_TIMEOUT = 0.1  # these reads hold up the event loop; in WAL mode they next to never wait
_FOREIGN = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}


class SqliteStore(SqlStore):
    """A Store in one file.

    busy_timeout: seconds to wait for another process that writes to the same file.
    """

    def __init__(self, path: Path, clock: Clock | None = None, busy_timeout: float = 5.0) -> None:
        super().__init__(SQLITE, clock or SystemClock())
        self._path = path
        self._busy_timeout = busy_timeout
        self._writer: GroupCommit | None = None
        self._readers: SqliteReaders | None = None
        self._inline: InlineReader | None = None

    async def open(
        self,
        collections: Sequence[Collection[Any]],
        journals: Sequence[Journal[Any]],
        migrations: Sequence[Migration] = (),
    ) -> None:
        upgrade = Upgrade(SQLITE, [*collections, *journals], migrations)
        connection = await asyncio.to_thread(self._open_for_writing, upgrade)
        self._catalog = Catalog(SQLITE, collections, journals)
        self._writer = GroupCommit(connection)
        self._readers = SqliteReaders(lambda: self._open_for_reading(self._busy_timeout), _READERS)
        self._inline = InlineReader(self._open_for_reading(_INLINE_BUSY_TIMEOUT))

    async def close(self) -> None:
        writer, readers, inline = self._writer, self._readers, self._inline
        self._writer = self._readers = self._inline = None
        if writer is not None:
            await writer.stop()
        if readers is not None:
            await readers.stop()
        if inline is not None:
            inline.close()

    async def ready(self) -> bool:
        try:
            async with asyncio.timeout(1):
                await self._read(Statement("SELECT count(*) FROM penstock_schema"))
        except (Unavailable, TimeoutError):
            return False
        return True

    async def _read(self, statement: Statement) -> Found:
        if self._inline is None or self._readers is None:
            raise Unavailable("the store is closed")
        found = self._inline.query(statement)
        return await self._readers.run(statement) if found is None else found

    async def _write(self, steps: Callable[[], Steps[R]]) -> R:
        if self._writer is None:
            raise Unavailable("the store is closed")
        return await self._writer.run(lambda connection: run(connection, steps()))

    def _open_for_writing(self, upgrade: Upgrade) -> sqlite3.Connection:
        """Raises Invalid, naming the setting, for a file that is damaged or not Penstock's."""
        # SQLite does not always wait by itself while other processes switch the file to WAL or close it.
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                return self._prepared(upgrade)
            except sqlite3.Error as error:
                if primary_code(error) == sqlite3.SQLITE_BUSY and time.monotonic() < deadline:
                    time.sleep(_PAUSE)
                    continue
                if primary_code(error) in _FOREIGN:
                    raise Invalid.one(SETTING, f"{self._path} is damaged or not a database: {error}") from error
                unavailable = away(error)
                if unavailable is None:
                    raise
                raise Unavailable(f"{self._path}: {unavailable.detail}") from error

    def _prepared(self, upgrade: Upgrade) -> sqlite3.Connection:
        _create(self._path)
        connection = self._connect(self._busy_timeout)
        try:
            _prepare(connection, upgrade)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_for_reading(self, busy_timeout: float) -> sqlite3.Connection:
        connection = self._connect(busy_timeout)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _connect(self, busy_timeout: float) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path,
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,  # opened in one thread, then used by one other
            cached_statements=500,
        )


def _create(path: Path) -> None:
    """An empty file for our own user only, unless it is there; SQLite gives its other files the same rights."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(f"{path}: {error.strerror}") from error


def run(connection: sqlite3.Connection, steps: Steps[R]) -> R:
    """Drives a procedure to its end."""
    try:
        statement = next(steps)
        while True:
            try:
                result = _execute(connection, statement)
            except sqlite3.IntegrityError:
                steps.throw(Conflict())
                raise
            statement = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _execute(connection: sqlite3.Connection, statement: Statement) -> Result:
    cursor = connection.execute(statement.sql, statement.params)
    return Result(cursor.fetchall(), cursor.rowcount)


def _prepare(connection: sqlite3.Connection, upgrade: Upgrade) -> None:
    # Nothing is written, the change to WAL included, before the file is known to be ours.
    _check_ours(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT}")
    connection.execute("PRAGMA secure_delete = ON")  # what was sealed or purged is not left in free pages
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        run(connection, upgrade.steps())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _check_ours(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")  # another replica may be creating the tables at this moment
    [(mark,)] = connection.execute("PRAGMA application_id").fetchall()
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    connection.execute("COMMIT")
    if mark != APPLICATION_ID and (mark != 0 or tables):
        raise Invalid.one(SETTING, "the file is the database of another program")
