"""The line of exchanges that wait for a `seda` route."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from penstock.flow.failures.errors import FlowError


class QueueFull(FlowError):
    """As many exchanges wait as may."""

    code = "queue-full"
    title = "Queue full"
    java = ("java.lang.IllegalStateException", "java.lang.RuntimeException")


class WaitingLine:
    """First come, first served. size: how many may wait. servers: how many are served at a time."""

    def __init__(self) -> None:
        self.size = 1000
        self._turns = asyncio.Semaphore(1)
        self._free = asyncio.Condition()
        self._waiting = 0

    def open(self, size: int, servers: int) -> None:
        """Called before the first exchange comes."""
        self.size = size
        self._turns = asyncio.Semaphore(servers)

    @property
    def is_full(self) -> bool:
        return self._waiting >= self.size

    async def wait_for_place(self, patience: timedelta) -> None:
        """Returns when there is a place; patience: zero for without end. Raises QueueFull."""
        try:
            async with asyncio.timeout(patience.total_seconds() or None), self._free:
                await self._free.wait_for(lambda: not self.is_full)
        except TimeoutError:
            raise QueueFull(f"Queue full: no place within {patience.total_seconds():g} s") from None

    def enter(self) -> None:
        """Takes a place, to be given up by `turn`."""
        self._waiting += 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Within it, it is the exchange's turn."""
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
            async with self._free:
                self._free.notify()
        try:
            yield
        finally:
            self._turns.release()
