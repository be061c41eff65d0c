"""What the agent keeps of event sources: the item, how far it has read, and how it stands."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.agent.database import Database, Work
from penstock.agent.entries import Channel, Entry, event_entry, insert_entries, source_entry
from penstock.agent.outbox import Outbox
from penstock.connectors.source import Position
from penstock.connectors.source_status import new_status, removed
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import encode
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventSourceStatus, SourceItem, SourceState

_log = structlog.get_logger(__name__)


class Kept(msgspec.Struct, frozen=True):
    """One event source as it was kept. position: JSON."""

    item: SourceItem
    position: bytes | None
    status: EventSourceStatus | None


class SourceBook:
    """One source's; see connectors.source_runner.Book. Events and position reach the disk together."""

    def __init__(self, item: SourceItem, kept: Kept | None, database: Database, outbox: Outbox, clock: Clock) -> None:
        self._id = item.id
        self._database = database
        self._outbox = outbox
        self._position: Position = None
        if kept is not None and kept.position is not None:
            self._position = msgspec.json.decode(kept.position)
        status = kept.status if kept is not None else None
        self._status = status if status is not None else new_status(clock.now())

    @property
    def position(self) -> Position:
        return self._position

    @property
    def status(self) -> EventSourceStatus:
        return self._status

    async def keep(self, events: Sequence[CloudEvent], position: Position) -> None:
        if events:
            await self._outbox.room()
        entries = [event_entry(self._id, event) for event in events]
        body = encode(position) if position is not None else None

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, entries)
            connection.execute("UPDATE sources SET position = ? WHERE id = ?", (body, str(self._id)))

        def written() -> None:
            self._position = position

        await self._write(write, len(entries), written)

    async def note(self, status: EventSourceStatus) -> None:
        entry = source_entry(SourceState(source_id=self._id, status=status))

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, [entry])
            connection.execute("UPDATE sources SET status = ? WHERE id = ?", (encode(status), str(self._id)))

        def written() -> None:
            self._status = status

        await self._write(write, 1, written)

    async def _write(self, work: Work[None], entries: int, written: Callable[[], None]) -> None:
        """Returns once it is on disk. Whoever is cancelled meanwhile finds here, too, what reached the disk."""

        def settle(job: "asyncio.Future[None]") -> None:
            if not job.cancelled() and job.exception() is None:
                written()
                self._outbox.stored(Channel.EVENTS, entries)

        job = self._database.post(work)
        job.add_done_callback(settle)
        await asyncio.shield(job)

    async def forget(self, clock: Clock) -> None:
        """The source is gone: nothing of it is left here but its last report."""
        status = removed(self._status, clock.now())
        entry: Entry = source_entry(SourceState(source_id=self._id, status=status, removed=True))

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, [entry])
            connection.execute("DELETE FROM sources WHERE id = ?", (str(self._id),))

        await self._database.run(write)
        self._outbox.stored(Channel.EVENTS, 1)


def write_item(connection: sqlite3.Connection, item: SourceItem) -> None:
    """Keeps an item. One with secrets is kept without its configuration: secrets do not reach the disk."""
    kept = msgspec.structs.replace(item, configuration="") if item.has_secrets else item
    connection.execute(
        "INSERT INTO sources (id, item) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET item = excluded.item",
        (str(item.id), encode(kept)),
    )


def read_sources(connection: sqlite3.Connection) -> dict[UUID, Kept]:
    """All that is kept; what another version wrote, and this cannot read, is left for the servers to send."""
    found: dict[UUID, Kept] = {}
    for id, item, position, status in connection.execute("SELECT id, item, position, status FROM sources"):
        try:
            found[UUID(id)] = Kept(
                decode_json(item, SourceItem),
                position,
                decode_json(status, EventSourceStatus) if status is not None else None,
            )
        except Invalid as error:
            _log.warning("kept event source cannot be read", source=id, reason=str(error))
    return found
