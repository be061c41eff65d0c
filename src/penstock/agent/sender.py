"""Sends the messages of one channel of the outbox, each until it is acknowledged, and in their order."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from penstock.agent.batches import MOST_ENTRIES, Batch, break_up, next_batch, remove_batch
from penstock.agent.database import Database
from penstock.agent.entries import Channel
from penstock.kernel.errors import PenstockError, TooLarge

Publish = Callable[[Batch], Awaitable[None]]
"""Returns when the servers' side has the message on disk. Raises a PenstockError when it does not."""

_GATHER_SECONDS = 0.05
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 3.0
_log = structlog.get_logger(__name__)


class Sender:
    """`serve` runs as a task; `stored` tells it that there is something to send."""

    def __init__(self, database: Database, channel: Channel) -> None:
        self._database = database
        self._channel = channel
        self._stored = asyncio.Event()
        self._stored.set()  # what an earlier run left
        self._many = asyncio.Event()
        self._gathered = 0
        self._idle = asyncio.Event()

    def stored(self, entries: int) -> None:
        """So many entries have been written into the database."""
        self._gathered += entries
        self._idle.clear()
        self._stored.set()
        if self._gathered >= MOST_ENTRIES:
            self._many.set()

    async def idle(self) -> None:
        """Returns when all that was stored has been acknowledged."""
        await self._idle.wait()

    async def serve(self, publish: Publish, sent: Callable[[], None]) -> None:
        """Sends what there is and what comes, until cancelled. sent: called when nothing is left for now."""
        while True:
            await self._stored.wait()
            await self._gather()
            await self._send_all(publish)
            sent()
            if not self._stored.is_set():
                self._idle.set()

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

    async def _send_all(self, publish: Publish) -> None:
        done: Batch | None = None
        most = MOST_ENTRIES
        while (batch := await self._next(done, most)) is not None:
            try:
                await self._insist(batch, publish)
                done, most = batch, MOST_ENTRIES
            except TooLarge as error:
                done, most = None, await self._make_smaller(batch, error)

    async def _next(self, done: Batch | None, most: int) -> Batch | None:
        return await self._database.run(lambda connection: next_batch(connection, self._channel, done, most))

    async def _insist(self, batch: Batch, publish: Publish) -> None:
        """Returns when the message is acknowledged. Raises TooLarge."""
        pause = _FIRST_PAUSE
        while True:
            try:
                await publish(batch)
                return
            except TooLarge:
                raise
            except PenstockError as error:
                _log.warning("reports wait, they cannot be delivered", channel=batch.channel, reason=str(error))
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _make_smaller(self, batch: Batch, error: TooLarge) -> int:
        """Answers how many entries the next message may have."""
        if batch.entries > 1:
            await self._database.run(lambda connection: break_up(connection, batch))
        else:
            _log.error("a report is dropped, the bus does not take it", channel=batch.channel, reason=str(error))
            await self._database.run(lambda connection: remove_batch(connection, batch))
        return max(1, batch.entries // 2)
