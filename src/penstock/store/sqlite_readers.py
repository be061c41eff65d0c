"""Threads that read from SQLite, one connection each, so that a slow query holds up no one."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from penstock.store.sqlite_errors import away
from penstock.store.statement import Statement

Found = list[tuple[Any, ...]]


class SqliteReaders:
    """connect: makes a connection for reading; called once in each thread."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], threads: int) -> None:
        self._connect = connect
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(threads, "sqlite-reader", initializer=self._start)

    def _start(self) -> None:
        self._own.connection = connection = self._connect()
        self._connections.append(connection)

    async def run(self, statement: Statement) -> Found:
        """Raises Unavailable when the database fails."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._query, statement)

    def _query(self, statement: Statement) -> Found:
        return query(self._own.connection, statement)

    async def stop(self) -> None:
        """Interrupts what runs."""
        for connection in self._connections:
            connection.interrupt()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        for connection in self._connections:
            connection.close()


def query(connection: sqlite3.Connection, statement: Statement) -> Found:
    """Raises Unavailable when the database fails."""
    try:
        return connection.execute(statement.sql, statement.params).fetchall()
    except sqlite3.Error as error:
        unavailable = away(error)
        if unavailable is None:
            raise
        raise unavailable from error
