"""Runs the agent's event sources, one task each."""

from datetime import tzinfo
from functools import partial
from uuid import UUID

import structlog

from penstock.agent.assigned.book import Drawer, Kept
from penstock.agent.assigned.task_keeper import TaskKeeper
from penstock.agent.sources.book import SourceBook
from penstock.agent.sources.build import SourceBuilder
from penstock.connectors.cadence import Cadence
from penstock.connectors.source_runner import Place, SourceRunner
from penstock.connectors.source_status import removed, stopped
from penstock.kernel.cron import CronError
from penstock.protocol.event_source import SourceItem

_log = structlog.get_logger(__name__)


class SourceKeeper(TaskKeeper[SourceItem, SourceBook]):
    """How far a source has read stays when its item changes."""

    body = SourceItem

    def __init__(self, drawer: Drawer, builder: SourceBuilder, place: Place, zone: tzinfo) -> None:
        super().__init__(drawer)
        self._builder = builder
        self._place = place
        self._zone = zone

    def book(self, key: UUID, kept: Kept | None) -> SourceBook:
        return SourceBook(self._drawer, key, kept)

    async def ended_before(self, book: SourceBook) -> None:
        ended = stopped(book.status, self._place.clock.now(), "the agent ended")
        if ended is not book.status:
            await book.note(ended)

    async def forget(self, book: SourceBook) -> None:
        await book.forget(removed(book.status, self._place.clock.now()))

    async def run(self, body: SourceItem, book: SourceBook) -> None:
        runner = SourceRunner(body.name, book.key, partial(self._builder.build, body), book, self._place)
        try:
            cadence = Cadence.of(body.frequency, body.cron, self._zone)
            await runner.serve(cadence, requires_polling=body.requires_polling)
        except CronError as error:
            _log.error("event source cannot be run", source=body.name, reason=str(error))
