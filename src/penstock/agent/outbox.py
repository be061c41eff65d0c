"""What the agent has to tell the servers: on disk before it is sent, and until it is acknowledged."""

import asyncio
import sqlite3
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import count

import structlog

from penstock.agent.batches import Batch, break_up, next_batch, remove_batch
from penstock.agent.database import Database, Work
from penstock.agent.entries import Channel, Entry, insert_entries, line_entry
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError, TooLarge
from penstock.kernel.ids import new_id
from penstock.protocol.report import LogLine

Publish = Callable[[Batch], Awaitable[None]]
"""Returns when the message is stored at the servers' side. Raises a PenstockError when it is not."""

_GATHER_SECONDS = 0.05
_FULL_BATCH = 200
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 3.0
_WAITING_LINES = 10_000
_DROPPED_AT_ONCE = 1000
_log = structlog.get_logger(__name__)


class Outbox:
    """limit: bytes that undelivered reports may take on disk; from then on log lines are dropped, the oldest first.

    full: there are no log lines left to drop; only what must be told should be added.
    """

    def __init__(self, database: Database, clock: Clock, limit: int) -> None:
        self._database = database
        self._clock = clock
        self._limit = limit
        self.full = False
        self._lines: deque[Entry] = deque()
        self._lost: Counter[str] = Counter()
        self._lines_came = asyncio.Event()
        self._stored = asyncio.Event()
        self._stored.set()  # what an earlier run left
        self._many = asyncio.Event()
        self._gathered = 0
        self._idle = asyncio.Event()

    def stored(self, entries: int) -> None:
        """Says that so many entries have been written into the database, here or by others."""
        self._gathered += entries
        self._idle.clear()
        self._stored.set()
        if self._gathered >= _FULL_BATCH:
            self._many.set()

    async def add(self, entries: Sequence[Entry]) -> None:
        """Returns when the entries are on disk."""
        if entries:
            await self._database.run(lambda connection: insert_entries(connection, entries))
            self.stored(len(entries))

    def post(self, write: Work[None], entries: int) -> None:
        """Has `write` put that many entries into the database, without waiting for it."""

        def written(job: "asyncio.Future[None]") -> None:
            if job.cancelled() or (error := job.exception()) is None:
                self.stored(entries)
            else:
                _log.error("a report could not be written down", reason=str(error))

        self._database.post(write).add_done_callback(written)

    def log(self, line: LogLine) -> None:
        """Takes a log line, without waiting; drops it when the disk cannot follow."""
        if len(self._lines) >= _WAITING_LINES:
            self._lost[line.flow] += 1
            return
        self._lines.append(line_entry(line))
        self._lines_came.set()

    async def write_lines(self) -> None:
        """Brings log lines to the disk, until cancelled."""
        while True:
            await self._lines_came.wait()
            await self.flush_lines()

    async def flush_lines(self) -> None:
        """Returns when the lines taken so far are on disk."""
        self._lines_came.clear()
        lines = [*self._lines, *self._told_lost()]
        self._lines.clear()
        if not lines:
            return
        dropped, self.full = await self._database.run(lambda connection: self._write_lines(connection, lines))
        if dropped:
            self._lost.update(dropped)  # told as soon as there is room again
            _log.warning("log lines dropped, the outbox is full", lines=dropped.total())
        self.stored(len(lines))

    async def deliver(self, publish: Publish) -> None:
        """Sends what there is and what comes, until cancelled."""
        while True:
            await self._stored.wait()
            await self._gather()
            for channel in Channel:
                await self._deliver(channel, publish)
            if self._lost:
                self._lines_came.set()
            if not self._stored.is_set():
                self._idle.set()

    async def flush(self, seconds: float) -> None:
        """Returns when all that was told has been acknowledged, at the latest after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self.flush_lines()
                await self._idle.wait()
        except TimeoutError:
            _log.info("reports that could not be delivered in time are kept for the next start")

    async def _gather(self) -> None:
        """Lets more entries come, so that they go together."""
        try:
            async with asyncio.timeout(_GATHER_SECONDS):
                await self._many.wait()
        except TimeoutError:
            pass
        self._gathered = 0
        self._many.clear()
        self._stored.clear()

    async def _deliver(self, channel: Channel, publish: Publish) -> None:
        done: Batch | None = None
        most = _FULL_BATCH
        while (batch := await self._next(channel, done, most)) is not None:
            try:
                await self._insist(batch, publish)
                done, most = batch, _FULL_BATCH
            except TooLarge as error:
                done, most = await self._make_smaller(batch, error)

    async def _next(self, channel: Channel, done: Batch | None, most: int) -> Batch | None:
        return await self._database.run(lambda connection: next_batch(connection, channel, done, most))

    async def _insist(self, batch: Batch, publish: Publish) -> None:
        """Sends a message until it is acknowledged. Raises TooLarge."""
        for attempt in count():
            try:
                await publish(batch)
            except TooLarge:
                raise
            except PenstockError as error:
                pause = min(_FIRST_PAUSE * 2 ** min(attempt, 10), _LONGEST_PAUSE)
                _log.warning("reports wait, they cannot be delivered", channel=batch.channel, reason=str(error))
                await asyncio.sleep(pause)
            else:
                return

    async def _make_smaller(self, batch: Batch, error: TooLarge) -> tuple[None, int]:
        if batch.entries > 1:
            await self._database.run(lambda connection: break_up(connection, batch))
        else:
            _log.error("a report is dropped, the bus does not take it", channel=batch.channel, reason=str(error))
            await self._database.run(lambda connection: remove_batch(connection, batch))
        return None, max(1, batch.entries // 2)

    def _told_lost(self) -> Iterable[Entry]:
        """One line for each flow that lost some."""
        lost, self._lost = self._lost, Counter()
        for flow, lines in lost.items():
            yield line_entry(
                LogLine(
                    id=new_id(),
                    at=self._clock.now(),
                    flow=flow,
                    level="WARN",
                    message=f"{lines} log lines were dropped: the agent cannot keep more until it can deliver",
                )
            )

    def _write_lines(self, connection: sqlite3.Connection, lines: Sequence[Entry]) -> tuple[Counter[str], bool]:
        """Answers how many lines of each flow were dropped, and whether that was not enough."""
        dropped: Counter[str] = Counter()
        insert_entries(connection, lines)
        while (over := _used(connection) > self._limit) and (oldest := _drop_oldest(connection)):
            dropped.update(oldest)
        return dropped, over


def _used(connection: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    [(pages,)] = connection.execute("PRAGMA page_count")
    [(free,)] = connection.execute("PRAGMA freelist_count")
    [(size,)] = connection.execute("PRAGMA page_size")
    return int((pages - free) * size)


def _drop_oldest(connection: sqlite3.Connection) -> list[str]:
    """Drops some log lines that are in no message yet; answers their flows."""
    rows = connection.execute(
        "DELETE FROM outbox WHERE number IN (SELECT number FROM outbox WHERE channel = ? AND batch IS NULL"
        " ORDER BY number LIMIT ?) RETURNING flow",
        (Channel.LOGS, _DROPPED_AT_ONCE),
    ).fetchall()
    return [flow for (flow,) in rows]
