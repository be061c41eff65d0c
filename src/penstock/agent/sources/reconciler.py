"""Compares the event sources that the servers want with those that the agent runs, and has the difference made."""

import asyncio
from uuid import UUID

import structlog

from penstock.agent.access import Access
from penstock.agent.sources.keeper import SourceKeeper
from penstock.agent.uplink import Uplink
from penstock.kernel.errors import PenstockError
from penstock.protocol import subjects
from penstock.protocol.event_source import SourceAnswer, SourceItem, SourceQuery

_GATHER_SECONDS = 0.03
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 15.0
_log = structlog.get_logger(__name__)


class SourceReconciler:
    """`serve` runs as a task; `notice` tells it that something may have changed."""

    def __init__(self, keeper: SourceKeeper, uplink: Uplink, access: Access) -> None:
        self._keeper = keeper
        self._uplink = uplink
        self._access = access
        self._noticed = asyncio.Event()

    def notice(self) -> None:
        """Event sources may have changed."""
        self._noticed.set()

    async def serve(self) -> None:
        """Takes up what was there, then follows the servers, until cancelled."""
        await self._keeper.resume()
        pause = _FIRST_PAUSE
        while True:
            await self._next_notice()
            try:
                await self._compare()
                pause = _FIRST_PAUSE
            except PenstockError as error:
                _log.warning("event sources cannot be asked for, trying again", reason=str(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                self.notice()

    async def _next_notice(self) -> None:
        try:
            async with asyncio.timeout(self._access.resync_seconds):
                await self._noticed.wait()
        except TimeoutError:
            return
        await asyncio.sleep(_GATHER_SECONDS)
        self._noticed.clear()

    async def _compare(self) -> None:
        changed, unchanged = ([], set()) if self._access.deprecated else await self._wanted()
        for id in self._keeper.known - unchanged - {item.id for item in changed}:
            await self._keeper.remove(id)
        for item in changed:
            await self._keeper.apply(item)

    async def _wanted(self) -> tuple[list[SourceItem], set[UUID]]:
        """The event sources that are new or have changed, and those that stay as they are."""
        stamps = {str(id): stamp for id, stamp in self._keeper.stamps.items()}
        changed: list[SourceItem] = []
        unchanged: set[UUID] = set()
        query = SourceQuery(stamps=stamps)
        while True:
            page = await self._uplink.ask(subjects.SOURCES, query, SourceAnswer)
            changed += page.items
            unchanged.update(page.unchanged)
            if page.next is None:
                return changed, unchanged
            query = SourceQuery(after=page.next, stamps=stamps)
