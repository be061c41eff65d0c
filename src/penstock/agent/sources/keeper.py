"""Runs the agent's event sources, one task each."""

import asyncio
from datetime import tzinfo
from functools import partial
from types import TracebackType
from typing import Self
from uuid import UUID

import structlog

from penstock.agent.database import Database
from penstock.agent.outbox import Outbox
from penstock.agent.sources.book import Kept, SourceBook, read_sources, write_item
from penstock.agent.sources.build import SourceBuilder
from penstock.connectors.cadence import Cadence
from penstock.connectors.source_runner import Place, SourceRunner
from penstock.connectors.source_status import stopped
from penstock.kernel.cron import CronError
from penstock.protocol.event_source import SourceItem

_log = structlog.get_logger(__name__)


class SourceKeeper:
    """Works within `async with`; leaving it stops the sources. Changes come one at a time."""

    def __init__(self, database: Database, outbox: Outbox, builder: SourceBuilder, place: Place, zone: tzinfo) -> None:
        self._database = database
        self._outbox = outbox
        self._builder = builder
        self._place = place
        self._zone = zone
        self._group = asyncio.TaskGroup()
        self._books: dict[UUID, SourceBook] = {}
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self.stamps: dict[UUID, str] = {}
        """Of each source that runs as its item says."""

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._running.values():
            task.cancel()
        await self._group.__aexit__(kind, error, trace)

    async def resume(self) -> None:
        """Takes up the sources of an earlier run. Those with secrets wait until the servers have told them again."""
        for id, kept in (await self._database.run(read_sources)).items():
            book = self._books[id] = self._book(kept.item, kept)
            # It ended with that run, however that was.
            ended = stopped(book.status, self._place.clock.now(), "the agent ended")
            if ended is not book.status:
                await book.note(ended)
            if not kept.item.has_secrets:
                self._start(kept.item, book)

    async def apply(self, item: SourceItem) -> None:
        """Makes the source what the item says; how far it has read stays."""
        await self._stop(item.id)
        await self._database.run(partial(write_item, item=item))
        book = self._books.get(item.id)
        if book is None:
            book = self._books[item.id] = self._book(item, None)
            await book.note(book.status)
        self._start(item, book)

    async def remove(self, id: UUID) -> None:
        """Ends the source, and forgets it."""
        await self._stop(id)
        book = self._books.pop(id, None)
        if book is not None:
            await book.forget(self._place.clock)

    @property
    def known(self) -> set[UUID]:
        """The sources that the agent has, those that wait included."""
        return set(self._books)

    def _book(self, item: SourceItem, kept: Kept | None) -> SourceBook:
        return SourceBook(item, kept, self._database, self._outbox, self._place.clock)

    def _start(self, item: SourceItem, book: SourceBook) -> None:
        self.stamps[item.id] = item.stamp
        self._running[item.id] = self._group.create_task(self._run(item, book), name=f"event source {item.name}")

    async def _stop(self, id: UUID) -> None:
        self.stamps.pop(id, None)
        task = self._running.pop(id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self, item: SourceItem, book: SourceBook) -> None:
        runner = SourceRunner(item.name, item.id, partial(self._builder.build, item), book, self._place)
        try:
            cadence = Cadence.of(item.frequency, item.cron, self._zone)
            await runner.serve(cadence, requires_polling=item.requires_polling)
        except CronError as error:
            _log.error("event source cannot be run", source=item.name, reason=str(error))
        except Exception as error:  # noqa: BLE001 - one source must not end the others; the resync begins it again
            _log.error("event source ended", source=item.name, exc_info=error)
            self.stamps.pop(item.id, None)
