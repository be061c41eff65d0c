"""Where answers to a server's requests arrive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from penstock.bus.bus import Bus
from penstock.bus.message import Received


class Answers(NamedTuple):
    """reply: the subject to answer on. arrived: what came there."""

    reply: str
    arrived: asyncio.Queue[Received]


class Inbox:
    """One subscription for all requests, which ends with the bus: one for each takes two round trips more."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._subject: str | None = None
        self._opening = asyncio.Lock()
        self._count = 0
        self._waiting: dict[str, asyncio.Queue[Received]] = {}

    @asynccontextmanager
    async def answers(self) -> AsyncIterator[Answers]:
        """Takes the answers to one request within the block. Raises Unavailable."""
        subject = await self._open()
        self._count += 1
        reply = f"{subject}.{self._count}"
        arrived = self._waiting[reply] = asyncio.Queue()
        try:
            yield Answers(reply, arrived)
        finally:
            del self._waiting[reply]

    async def _open(self) -> str:
        async with self._opening:
            session = await self._bus.session()  # notices are dropped without one
            if self._subject is None:
                subject = session.client.new_inbox()
                await self._bus.subscribe(f"{subject}.*", self._take)
                self._subject = subject
            return self._subject

    async def _take(self, answer: Received) -> None:
        waiting = self._waiting.get(answer.subject)
        if waiting is not None:
            waiting.put_nowait(answer)
