"""The agent's file: what it has to do, has done, and has yet to tell. One thread reads and writes it.

What waits together shares a transaction and its fsync. While the disk fails or is full, everything waits:
what could not be written down must not happen.
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import structlog

from penstock.agent.schema import prepare
from penstock.kernel.errors import PenstockError, Unavailable

R = TypeVar("R")
Work = Callable[[sqlite3.Connection], R]
"""What runs in the transaction. It may run more than once, and only its last result counts."""

_AT_ONCE = 500
_RETRY_SECONDS = 1.0
_PASSES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
}
_log = structlog.get_logger(__name__)


class DamagedDatabase(PenstockError):
    """The agent's file is damaged or another program's."""

    code = "damaged-database"
    title = "The agent's database is damaged"


class _Job(Generic[R]):
    __slots__ = ("error", "future", "result", "work")

    def __init__(self, work: Work[R], future: "asyncio.Future[R]") -> None:
        self.work = work
        self.future = future
        self.result: R | None = None
        self.error: BaseException | None = None


class Database:
    """Opened once, used from one event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = threading.Event()

    async def open(self) -> None:
        """Makes or upgrades the file. Raises DamagedDatabase, Unavailable."""
        connection = await asyncio.to_thread(self._connect)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, args=(connection,), name="agent-database", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Finishes what waits, unless the disk fails."""
        if self._thread is not None:
            self._closing.set()
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    async def run(self, work: Work[R]) -> R:
        """Returns what `work` returns, once it is on disk; raises what it raises, and then nothing of it is kept."""
        return await self.post(work)

    def post(self, work: Work[R]) -> "asyncio.Future[R]":
        """Like `run`, for what need not be waited for: it happens before all that is handed over later."""
        if self._loop is None or self._thread is None or self._closing.is_set():
            raise Unavailable("The agent's database is closed")
        job = _Job(work, self._loop.create_future())
        self._queue.put(job)
        return job.future

    def _connect(self) -> sqlite3.Connection:
        try:
            _make_private(self._path)
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            try:
                prepare(connection)
            except BaseException:
                connection.close()
                raise
        except sqlite3.DatabaseError as error:
            if _code(error) in _PASSES:
                raise Unavailable(f"{self._path}: {error}") from error
            raise DamagedDatabase(f"{self._path} cannot be read: {error}") from error
        return connection

    def _run(self, connection: sqlite3.Connection) -> None:
        try:
            while jobs := self._next_jobs():
                self._commit_all(connection, jobs)
                self._settle(jobs)
        finally:
            connection.close()

    def _next_jobs(self) -> list[_Job[Any]]:
        """Waits for work and takes all there is; nothing when it is time to stop."""
        jobs: list[_Job[Any]] = []
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == _AT_ONCE or self._queue.empty():
                return jobs
            job = self._queue.get()
        if jobs:
            self._queue.put(None)  # finish these first
        return jobs

    def _commit_all(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        if self._commit(connection, jobs) is None:
            return
        for job in jobs:  # one of them fails: each for itself, so that it fails alone
            job.error = self._commit(connection, [job])

    def _commit(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> BaseException | None:
        """Runs the jobs in a transaction, again and again while the disk fails. Returns what made it fail for good."""
        failing = False
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    job.result = job.work(connection)
                connection.execute("COMMIT")
            except Exception as error:  # noqa: BLE001 - handed to whoever waits for the job
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if _code(error) not in _PASSES or self._closing.is_set():
                    return error
                if not failing:
                    _log.error("the agent's disk fails, everything waits for it", reason=str(error))
                failing = True
                self._closing.wait(_RETRY_SECONDS)
            else:
                if failing:
                    _log.info("the agent's disk is back")
                return None

    def _settle(self, jobs: list[_Job[Any]]) -> None:
        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_settle_each, jobs)


def _make_private(path: Path) -> None:
    """An empty file for our own user only, unless it is there; SQLite gives its other files the same rights."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(f"{path}: {error.strerror}") from error


def _settle_each(jobs: list[_Job[Any]]) -> None:
    for job in jobs:
        if job.future.done():  # nobody waits any more
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)


def _code(error: BaseException) -> int:
    """SQLite's primary result code, 0 when the error is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
