"""Flows that ended by themselves: how often, and when each is started again."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable

import msgspec

MOST = 5
_PAUSES = (1.0, 2.0, 4.0, 8.0)
_STEADY_SECONDS = 300.0


class Crash(msgspec.Struct, frozen=True):
    """number: counts the crashes in a row. pause: seconds until the flow is started again; None when it is not."""

    number: int
    pause: float | None


class Crashes:
    """now: seconds that only go forward. A flow that ran for five minutes begins to count anew."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._counts: dict[str, tuple[int, float]] = {}
        self._due: list[tuple[float, str]] = []
        self._changed = asyncio.Event()

    def count(self, flow: str) -> Crash:
        """The flow has crashed; it is due again after the pause."""
        now = self._now()
        before, at = self._counts.get(flow, (0, now))
        number = 1 if now - at > _STEADY_SECONDS else before + 1
        self._counts[flow] = number, now
        if number >= MOST:
            return Crash(number, None)
        pause = _PAUSES[number - 1]
        heapq.heappush(self._due, (now + pause, flow))
        self._changed.set()
        return Crash(number, pause)

    def forget(self, flow: str) -> None:
        """Somebody changed, stopped or started the flow: it counts anew."""
        self._counts.pop(flow, None)

    async def serve(self, restart: Callable[[str], Awaitable[None]]) -> None:
        """Has each flow started again when it is time, until cancelled."""
        while True:
            self._changed.clear()
            while self._due and self._due[0][0] <= self._now():
                _, flow = heapq.heappop(self._due)
                if flow in self._counts:
                    await restart(flow)
            await self._wait()

    async def _wait(self) -> None:
        seconds = max(self._due[0][0] - self._now(), 0.0) if self._due else None
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return
