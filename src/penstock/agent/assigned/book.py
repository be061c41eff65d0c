"""What the agent keeps of one item of assigned work: what it is, how far it has come, and how it stands."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

import msgspec
import structlog

from penstock.agent.database import Database, Work
from penstock.agent.entries import Channel, Entry, insert_entries, status_entry
from penstock.agent.outbox import Outbox
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire, encode
from penstock.protocol.assignment import AssignmentItem, AssignmentState

S = TypeVar("S", bound=Wire)
_log = structlog.get_logger(__name__)


class Kept(NamedTuple):
    """An item as it was kept, in JSON. body: None of one with secrets: those do not reach the disk."""

    stamp: str
    body: bytes | None = None
    progress: bytes | None = None
    status: bytes | None = None

    def as_item(self, key: UUID) -> AssignmentItem | None:
        """What the servers told; None when they must tell it again."""
        if self.body is None:
            return None
        return AssignmentItem(key=key, stamp=self.stamp, body=msgspec.Raw(self.body))


class Drawer:
    """Where the items of one kind are kept. kind: its word. channel: what it reports in."""

    def __init__(self, kind: str, channel: Channel, database: Database, outbox: Outbox, clock: Clock) -> None:
        self.kind = kind
        self.channel = channel
        self.database = database
        self.outbox = outbox
        self.clock = clock

    async def kept(self) -> dict[UUID, Kept]:
        """All that an earlier run has kept."""

        def read(connection: sqlite3.Connection) -> dict[UUID, Kept]:
            rows = connection.execute(
                "SELECT key, stamp, body, progress, status FROM assigned WHERE kind = ?", (self.kind,)
            )
            return {UUID(key): Kept(*columns) for key, *columns in rows}

        return await self.database.run(read)

    async def put(self, item: AssignmentItem) -> None:
        """Keeps an item; progress and status of an earlier one stay."""
        body = None if item.has_secrets else bytes(item.body)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO assigned (kind, key, stamp, body) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (kind, key) DO UPDATE SET stamp = excluded.stamp, body = excluded.body",
                (self.kind, str(item.key), item.stamp, body),
            )

        await self.database.run(write)


class Book(Generic[S]):
    """One item's progress and status. status: as kept, or else `new`.

    What is kept and what is reported reach the disk together.
    """

    def __init__(self, drawer: Drawer, key: UUID, kept: Kept | None, new: S) -> None:
        self._drawer = drawer
        self._key = key
        self._progress = kept.progress if kept is not None else None
        self._status = self._read(kept, type(new)) or new

    @property
    def key(self) -> UUID:
        return self._key

    @property
    def progress(self) -> bytes | None:
        """What was last kept as progress, JSON."""
        return self._progress

    @property
    def status(self) -> S:
        return self._status

    async def advance(self, progress: bytes | None, entries: Sequence[Entry] = ()) -> None:
        """Keeps the progress, with the entries for the outbox that come of it."""

        def write(connection: sqlite3.Connection) -> None:
            self._update(connection, "progress", progress)

        def written() -> None:
            self._progress = progress

        await self._write(write, entries, written)

    async def note(self, status: S) -> None:
        """Keeps and reports how the item stands."""

        def write(connection: sqlite3.Connection) -> None:
            self._update(connection, "status", encode(status))

        def written() -> None:
            self._status = status

        await self._write(write, [self._entry(status)], written)

    async def forget(self, status: S) -> None:
        """The item is gone: nothing of it is left here but its last report."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM assigned WHERE kind = ? AND key = ?", (self._drawer.kind, str(self._key)))

        await self._write(write, [self._entry(status, removed=True)], lambda: None)

    def _entry(self, status: S, removed: bool = False) -> Entry:
        state = AssignmentState(
            key=self._key, at=self._drawer.clock.now(), status=msgspec.Raw(encode(status)), removed=removed
        )
        return status_entry(self._drawer.channel, state)

    def _update(self, connection: sqlite3.Connection, column: str, value: bytes | None) -> None:
        connection.execute(
            f"UPDATE assigned SET {column} = ? WHERE kind = ? AND key = ?",  # noqa: S608 - a name from here
            (value, self._drawer.kind, str(self._key)),
        )

    async def _write(self, work: Work[None], entries: Sequence[Entry], written: Callable[[], None]) -> None:
        """Returns once it is on disk. Whoever is cancelled meanwhile finds here, too, what reached the disk."""

        def write(connection: sqlite3.Connection) -> None:
            work(connection)
            insert_entries(connection, entries)

        def settle(job: "asyncio.Future[None]") -> None:
            if not job.cancelled() and job.exception() is None:
                written()
                self._drawer.outbox.stored(self._drawer.channel, len(entries))

        job = self._drawer.database.post(write)
        job.add_done_callback(settle)
        await asyncio.shield(job)

    def _read(self, kept: Kept | None, status: type[S]) -> S | None:
        """None for what another version wrote, and this cannot read."""
        if kept is None or kept.status is None:
            return None
        try:
            found: S = decode_json(kept.status, status)
        except Invalid as error:
            _log.warning("kept status cannot be read", kind=self._drawer.kind, key=str(self._key), reason=str(error))
            return None
        return found
