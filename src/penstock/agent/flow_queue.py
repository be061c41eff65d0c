"""Changes of flows: one at a time for each flow, those of different flows side by side."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import structlog

Change = Callable[[], Awaitable[None]]

_SIDE_BY_SIDE = 64
_WAITING = 500
_log = structlog.get_logger(__name__)


class FlowQueue:
    """Works within `async with`. on_failure: told the flow whose change failed; the others go on.

    A change that waits is replaced by a newer one of the same flow.
    """

    def __init__(self, on_failure: Callable[[str], None]) -> None:
        self._on_failure = on_failure
        self._changes: dict[str, Change] = {}
        self._ready: deque[str] = deque()
        self._busy: set[str] = set()
        self._moved = asyncio.Condition()
        self._workers = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        self._tasks = [self._workers.create_task(self._work()) for _ in range(_SIDE_BY_SIDE)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._workers.__aexit__(kind, error, trace)

    async def put(self, flow: str, change: Change) -> None:
        """Waits while many others do."""
        async with self._moved:
            await self._moved.wait_for(lambda: len(self._changes) < _WAITING)
            if flow not in self._changes and flow not in self._busy:
                self._ready.append(flow)
            self._changes[flow] = change
            self._moved.notify_all()

    async def done(self) -> None:
        """Returns when nothing waits or is under way."""
        async with self._moved:
            await self._moved.wait_for(lambda: not self._changes and not self._busy)

    async def _work(self) -> None:
        while True:
            async with self._moved:
                await self._moved.wait_for(lambda: self._ready)
                flow = self._ready.popleft()
                change = self._changes.pop(flow)
                self._busy.add(flow)
            try:
                await change()
            except Exception as error:  # noqa: BLE001 - one flow must not hurt the others; it is tried again
                _log.error("a flow could not be changed", flow=flow, exc_info=error)
                self._on_failure(flow)
            finally:
                self._busy.discard(flow)
            async with self._moved:
                if flow in self._changes:
                    self._ready.append(flow)
                self._moved.notify_all()
