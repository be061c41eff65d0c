"""Time as a part that can be replaced: services ask a Clock, tests drive one."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...

    async def sleep_until(self, due: datetime) -> None:
        """Returns at `due`, at once when it has passed."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep_until(self, due: datetime) -> None:
        # A long sleep is cut so that a stepped wall clock is noticed within a minute.
        while (left := (due - self.now()).total_seconds()) > 0:
            await asyncio.sleep(min(left, 60.0))


class ManualClock:
    """Stands still until `advance`; sleepers wake in the order of their due times."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        return self._now

    async def sleep_until(self, due: datetime) -> None:
        if due <= self._now:
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (due, self._count, woken))
        await woken

    async def advance(self, step: timedelta) -> None:
        """Moves time on by `step`, letting each sleeper run at its own due time."""
        target = self._now + step
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            due, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not woken.done():
                woken.set_result(None)
            await self._settle()
        self._now = target

    async def _settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
