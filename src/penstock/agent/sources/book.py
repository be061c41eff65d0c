"""What the agent keeps of an event source: how far it has read, and how it stands."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from penstock.agent.assigned.book import Book, Drawer, Kept
from penstock.agent.entries import event_entry
from penstock.connectors.source import Position
from penstock.connectors.source_status import new_status
from penstock.kernel.wire import encode
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventSourceStatus


class SourceBook(Book[EventSourceStatus]):
    """See connectors.source_runner.Book. Events and position reach the disk together."""

    def __init__(self, drawer: Drawer, key: UUID, kept: Kept | None) -> None:
        super().__init__(drawer, key, kept, new_status(drawer.clock.now()))
        self._outbox = drawer.outbox

    @property
    def position(self) -> Position:
        return msgspec.json.decode(self.progress) if self.progress is not None else None

    async def keep(self, events: Sequence[CloudEvent], position: Position) -> None:
        if events:
            await self._outbox.room()
        body = encode(position) if position is not None else None
        await self.advance(body, [event_entry(self.key, event) for event in events])
