"""Changes of flows: one at a time for each flow, those of different flows side by side."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import structlog

from penstock.agent.tasks import Tasks

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
        self._busy: set[str] = set()
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._room = asyncio.Semaphore(_WAITING)
        self._idle = asyncio.Event()
        self._idle.set()
        self._uncounted: set[str] = set()
        self._workers = Tasks()

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        self._workers.start(*(self._work() for _ in range(_SIDE_BY_SIDE)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._workers.__aexit__(kind, error, trace)

    async def put(self, flow: str, change: Change) -> None:
        """Waits while many others do."""
        await self._room.acquire()
        if flow in self._changes and flow not in self._uncounted:
            self._room.release()
        self._uncounted.discard(flow)
        self._take(flow, change)

    def offer(self, flow: str, change: Change) -> None:
        """Like `put`, without waiting; passed over when another change of the flow waits, which comes first."""
        if flow not in self._changes:
            self._uncounted.add(flow)
            self._take(flow, change)

    def _take(self, flow: str, change: Change) -> None:
        if flow not in self._changes and flow not in self._busy:
            self._ready.put_nowait(flow)
        self._changes[flow] = change
        self._idle.clear()

    async def done(self) -> None:
        """Returns when nothing waits or is under way."""
        await self._idle.wait()

    async def _work(self) -> None:
        while True:
            flow = await self._ready.get()
            change = self._changes.pop(flow)
            if flow in self._uncounted:
                self._uncounted.discard(flow)
            else:
                self._room.release()
            self._busy.add(flow)
            try:
                await change()
            except Exception as error:  # noqa: BLE001 - one flow must not hurt the others; it is tried again
                _log.error("a flow could not be changed", flow=flow, exc_info=error)
                self._on_failure(flow)
            finally:
                self._busy.discard(flow)
            if flow in self._changes:
                self._ready.put_nowait(flow)
            elif not self._changes and not self._busy:
                self._idle.set()
