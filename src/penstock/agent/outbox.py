"""What the agent has to tell the servers: on disk before it is sent, and until it is acknowledged."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

import structlog

from penstock.agent.database import Database, Work
from penstock.agent.entries import Channel, Entry, insert_entries, line_entry
from penstock.agent.sender import Publish, Sender
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id
from penstock.protocol.report import LogLine

_WAITING_LINES = 10_000
_DROPPED_AT_ONCE = 1000
_ROOM_SECONDS = 1.0
_log = structlog.get_logger(__name__)


class Outbox:
    """limit: bytes that may be used on disk; from then on log lines are dropped, the oldest first, and that is told.

    full: there are no log lines left to drop; reports that must be told still come in, as short as they can be.
    """

    def __init__(self, database: Database, clock: Clock, limit: int) -> None:
        self._database = database
        self._clock = clock
        self._limit = limit
        self.full = False
        self._lines: list[Entry] = []
        self._lost: Counter[str] = Counter()
        self._lines_came = asyncio.Event()
        self._senders = {channel: Sender(database, channel) for channel in Channel}

    def stored(self, channel: Channel, entries: int) -> None:
        """So many entries have been written into the database by others."""
        if entries:
            self._senders[channel].stored(entries)

    def post(self, write: Work[None], channel: Channel, entries: int) -> None:
        """Has `write` put that many entries into the database, without waiting for it."""

        def written(job: "asyncio.Future[Counter[str]]") -> None:
            if job.cancelled():
                return
            error = job.exception()
            if error is None:
                self._count_dropped(job.result())
                self.stored(channel, entries)
            else:
                _log.error("a report could not be written down", reason=str(error))

        self._database.post(lambda connection: self._write(connection, write)).add_done_callback(written)

    async def room(self) -> None:
        """Returns when undelivered reports take no more than they may."""
        while await self._database.run(used_bytes) > self._limit:
            await asyncio.sleep(_ROOM_SECONDS)

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
        if lines:
            dropped = await self._database.run(
                lambda connection: self._write(connection, lambda inner: insert_entries(inner, lines))
            )
            self._count_dropped(dropped)
            self.stored(Channel.LOGS, len(lines))

    async def deliver(self, publish: Publish) -> None:
        """Sends what there is and what comes, until cancelled; no channel waits for another."""
        async with asyncio.TaskGroup() as group:
            for sender in self._senders.values():
                group.create_task(sender.serve(publish, self._tell_lost))

    async def flush(self, seconds: float) -> None:
        """Returns when all that was told has been acknowledged, at the latest after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self.flush_lines()
                await self._database.run(lambda connection: None)  # what was posted is there, and counted
                for sender in self._senders.values():
                    await sender.idle()
        except TimeoutError:
            _log.info("reports that could not be delivered in time are kept for the next start")

    def _write(self, connection: sqlite3.Connection, write: Work[None]) -> Counter[str]:
        """Writes, and makes room where needed; answers how many log lines of each flow that cost."""
        write(connection)
        dropped: Counter[str] = Counter()
        while (over := used_bytes(connection) > self._limit) and (oldest := _drop_oldest_lines(connection)):
            dropped.update(oldest)
        self.full = over
        return dropped

    def _count_dropped(self, dropped: Counter[str]) -> None:
        if dropped:
            self._lost.update(dropped)
            _log.warning("log lines dropped, the outbox is full", lines=dropped.total())

    def _tell_lost(self) -> None:
        """There is room again."""
        if self._lost:
            self._lines_came.set()

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


def used_bytes(connection: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    [(pages,)] = connection.execute("PRAGMA page_count")
    [(free,)] = connection.execute("PRAGMA freelist_count")
    [(size,)] = connection.execute("PRAGMA page_size")
    return int((pages - free) * size)


def _drop_oldest_lines(connection: sqlite3.Connection) -> list[str]:
    """Drops some log lines that are in no message yet; answers their flows."""
    rows: Sequence[tuple[str]] = connection.execute(
        "DELETE FROM outbox WHERE number IN (SELECT number FROM outbox WHERE channel = ? AND batch IS NULL"
        " ORDER BY number LIMIT ?) RETURNING flow",
        (Channel.LOGS, _DROPPED_AT_ONCE),
    ).fetchall()
    return [flow for (flow,) in rows]
