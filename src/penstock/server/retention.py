"""Removes for good what was deleted or has expired long ago."""

import asyncio
from datetime import timedelta

import structlog

from penstock.kernel.clock import Clock
from penstock.resource.area import Worker
from penstock.server.settings import ServerSettings
from penstock.store.store import Store

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 3600


class Retention(Worker):
    """Purges the store once an hour; any number of replicas may do so."""

    def __init__(self, store: Store, clock: Clock, settings: ServerSettings) -> None:
        self._store = store
        self._clock = clock
        self._after = timedelta(days=settings.purge_after_days)

    async def run(self) -> None:
        while True:
            removed = await self._store.purge(self._clock.now(), self._after)
            if removed:
                log.info("old entries removed", count=removed)
            await asyncio.sleep(_PAUSE_SECONDS)
