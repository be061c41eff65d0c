"""Threads that read from SQLite, one connection each, so that a slow query holds up no one."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.kernel.errors import Unavailable
from penstock.store.sqlite_errors import away
from penstock.store.statement import Found, Statement


class SqliteReaders:
    """connect: makes a connection for reading; called once in each thread, when it is first needed."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], threads: int) -> None:
        self._connect = connect
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(threads, "sqlite-reader")
        self._stopped = False

    async def run(self, statement: Statement) -> Found:
        """Raises Unavailable when the database fails or the readers are being stopped."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, statement)

    def _query(self, statement: Statement) -> Found:
        if self._stopped:
            raise Unavailable("the store is closed")
        if not hasattr(self._own, "connection"):
            self._own.connection = self._connect()
            self._connections.append(self._own.connection)
        try:
            found: Found = self._own.connection.execute(statement.sql, statement.params).fetchall()
        except sqlite3.Error as error:
            unavailable = away(error)
            if unavailable is None:
                raise
            raise unavailable from error
        return found

    async def stop(self) -> None:
        """Interrupts what runs; what waits is refused."""
        self._stopped = True
        for connection in self._connections:
            connection.interrupt()
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._connections:
            connection.close()
