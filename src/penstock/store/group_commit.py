"""The one thread that writes to SQLite: work that waits together shares a transaction and its fsync."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Generic

import structlog

from penstock.kernel.errors import Unavailable
from penstock.store.sqlite_errors import away
from penstock.store.statement import R

_AT_ONCE = 500
_log = structlog.get_logger(__name__)


class _Job(Generic[R]):
    """Work, who waits for it, and how it ended."""

    __slots__ = ("error", "future", "loop", "result", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], R]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[R] = self.loop.create_future()
        self.result: R | None = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        if self.future.done():  # the caller was cancelled meanwhile
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]


class GroupCommit:
    """Takes work from any task; a piece that fails is undone alone. Work may be done twice, the first time in vain.

    connection: used by the writer thread only, closed by `stop`.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._queue: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._open = True
        self._thread.start()

    async def run(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """Returns what `work` returns, once it is on disk. Raises what it raises, or Unavailable."""
        if not self._open:
            raise Unavailable("the store is closed")
        job = _Job(work)
        self._queue.put(job)
        return await job.future

    async def stop(self) -> None:
        """Finishes what waits, then closes the connection."""
        if self._open:
            self._open = False
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            while jobs := self._next_jobs():
                self._commit(jobs)
                _settle(jobs)
        finally:
            self._connection.close()

    def _next_jobs(self) -> list[_Job[Any]]:
        """Waits for work and takes all there is; nothing when it is time to stop."""
        job = self._queue.get()
        jobs: list[_Job[Any]] = []
        while job is not None:
            jobs.append(job)
            if len(jobs) == _AT_ONCE:
                break
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
        else:
            if jobs:
                self._queue.put(None)  # finish these first
        return jobs

    def _commit(self, jobs: list[_Job[Any]]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            if not self._all_succeed(jobs):
                self._roll_back()
                self._connection.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    self._attempt(job)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            # What the commit did not make durable never happened, refusals that were decided upon it included.
            _log.error("commit failed", error=str(error), jobs=len(jobs))
            for job in jobs:
                job.error = away(error) or error
            self._roll_back()

    def _roll_back(self) -> None:
        if not self._connection.in_transaction:  # SQLite did so itself
            return
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("rollback failed", error=str(error))

    def _all_succeed(self, jobs: list[_Job[Any]]) -> bool:
        """Does the jobs without savepoints, which cost as much as the jobs and are hardly ever needed."""
        try:
            for job in jobs:
                job.result = job.work(self._connection)
        except Exception as error:  # raised again by `_attempt`, for the job that it is of
            if isinstance(error, sqlite3.Error) and away(error) is not None:
                raise
            return False
        return True

    def _attempt(self, job: _Job[Any]) -> None:
        connection = self._connection
        connection.execute("SAVEPOINT job")
        try:
            job.result = job.work(connection)
        except Exception as error:  # the caller's error, raised where it waits
            if isinstance(error, sqlite3.Error) and away(error) is not None:
                raise  # the database fails, so nobody's work can be kept
            job.error = error
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")


def _settle(jobs: list[_Job[Any]]) -> None:
    """Wakes all who wait, with one call for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job[Any]]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, waiting in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_each, waiting)


def _settle_each(jobs: list[_Job[Any]]) -> None:
    for job in jobs:
        job.settle()
