"""One event source at work, on an agent or a server: prepared, polled or listened to, its events kept."""

import asyncio
import hashlib
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from uuid import UUID

import structlog

from penstock.connectors import source_status
from penstock.connectors.cadence import Cadence
from penstock.connectors.resolution import Secrets
from penstock.connectors.source import Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_event import event_of
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Forbidden, Invalid, NotFound, PenstockError
from penstock.kernel.wire import encode
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventSourceStatus

_log = structlog.get_logger(__name__)

_LONGEST_POLL = 600.0  # seconds
_LONGEST_PAUSE = 60.0

Build = Callable[[Secrets], Awaitable[SourceKind]]
"""Makes the use of the kind, variables replaced; notes the secrets in it. Raises a PenstockError."""


@dataclass(frozen=True)
class Place:
    """Where event sources run.

    name: tells one place from another, such as an agent's id. folders: below which files may be read; None for all.
    pause: seconds after a failure; longer and longer while a source goes on failing.
    """

    name: str
    clock: Clock
    guard: AddressGuard
    folders: Sequence[Path] | None = None
    pause: float = 1.0


class Book(Protocol):
    """What of a source survives restarts."""

    @property
    def position(self) -> Position:
        """What was last kept as position."""
        ...

    @property
    def status(self) -> EventSourceStatus: ...

    async def keep(self, events: Sequence[CloudEvent], position: Position) -> None:
        """Returns once the events are on their way for good, and the position with them.

        Raises Unavailable when it is to be tried again; NotFound, Forbidden or Invalid when that will not help.
        """
        ...

    async def note(self, status: EventSourceStatus) -> None:
        """Keeps the status."""
        ...


class SourceRunner:
    """name, id: of the event source."""

    def __init__(self, name: str, id: UUID, build: Build, book: Book, place: Place) -> None:
        self._name = name
        self._id = id
        self._build = build
        self._book = book
        self._place = place
        self._secrets = Secrets()

    async def serve(self, cadence: Cadence, *, requires_polling: bool) -> None:
        """Polls whenever that is due, or listens, until cancelled; then the source is Stopped."""
        try:
            await (self._poll_on(cadence) if requires_polling else self.listen_on())
        finally:
            await self._note(source_status.stopped(self._book.status, self._now()))

    async def poll(self, due: datetime) -> float | None:
        """One poll, or several while there is more at once. Answers seconds to wait at least before the next one.

        A failure is noted in the status. Raises Unavailable when what was found could not be kept for now.
        """
        use = await self._prepared()
        if use is None:
            return None
        while True:
            position = self._position(use)
            findings, wait = await self._ask(use, position, due)
            if findings is None:
                return wait
            if not await self._keep(use, findings):
                return None
            if not findings.more or findings.position == position:
                break
        await self._note(source_status.started(self._book.status, self._now()))
        return None

    async def listen_on(self) -> None:
        """Listens until cancelled, again and again when the source fails."""
        pause = self._place.pause
        while True:
            began = self._now()
            wait = await self._listen()
            if (self._now() - began).total_seconds() > _LONGEST_PAUSE:
                pause = self._place.pause
            await asyncio.sleep(max(wait or 0.0, pause))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _poll_on(self, cadence: Cadence) -> None:
        clock, pause = self._place.clock, self._place.pause
        while (use := await self._prepared()) is None:
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        at_once = cadence.cron is None or (use.stateful and self._position(use) is None)
        due: datetime | None = self._now() if at_once else cadence.next_due(self._now(), self._now())
        while due is not None:
            await clock.sleep_until(due)
            wait = await self.poll(due)
            await asyncio.sleep(wait or 0.0)
            due = cadence.next_due(due, self._now())
        await asyncio.get_running_loop().create_future()

    async def _listen(self) -> float | None:
        """Returns when the source fails, with the seconds that it asks to wait."""
        use = await self._prepared()
        if use is None:
            return None

        async def emit(findings: Findings) -> None:
            if not await self._keep(use, findings):
                raise SourceFailed("what it found cannot be published")
            await self._note(source_status.started(self._book.status, self._now()))

        try:
            await use.listen(self._position(use), emit, self._surroundings(self._now()))
            await self._fail("ended by itself")
        except PenstockError as error:
            await self._fail(error.detail)
            return getattr(error, "retry_after", None)
        except Exception as error:  # noqa: BLE001 - a kind may be anybody's code; the failure is told in the status
            await self._unexpected(error)
        return None

    async def _prepared(self) -> SourceKind | None:
        """The use of the kind; None when it cannot be made, which is noted."""
        await self._note(source_status.initializing(self._book.status, self._now()))
        try:
            use = await self._build(self._secrets)
        except PenstockError as error:
            await self._fail(error.detail)
            return None
        await self._note(source_status.starting(self._book.status, self._now()))
        return use

    async def _ask(self, use: SourceKind, position: Position, due: datetime) -> tuple[Findings | None, float | None]:
        try:
            async with asyncio.timeout(_LONGEST_POLL):
                return await use.poll(position, self._surroundings(due)), None
        except TimeoutError:
            await self._fail(f"the poll took more than {_LONGEST_POLL:g} seconds")
        except PenstockError as error:
            await self._fail(error.detail)
            return None, getattr(error, "retry_after", None)
        except Exception as error:  # noqa: BLE001 - a kind may be anybody's code; the failure is told in the status
            await self._unexpected(error)
        return None, None

    async def _keep(self, use: SourceKind, findings: Findings) -> bool:
        """Whether what was found is kept; when it never can be, that is noted."""
        events = self._events(use, findings)
        position = {"of": _digest(use), "at": findings.position} if findings.position is not None else None
        if not events and position == self._book.position:
            return True
        try:
            await self._book.keep(events, position)
        except (NotFound, Forbidden, Invalid) as error:
            await self._fail(f"its events are refused: {error.detail}")
            return False
        return True

    def _position(self, use: SourceKind) -> Position:
        """How far the source has read; None when it was something else that it read."""
        kept = self._book.position
        return kept["at"] if kept is not None and kept["of"] == _digest(use) else None

    def _events(self, use: SourceKind, findings: Findings) -> list[CloudEvent]:
        events = []
        for finding in findings.found:
            try:
                events.append(event_of(finding, use, self._name, self._id, self._place.name, self._now()))
            except Invalid as error:
                _log.error("finding makes no event and is dropped", source=self._name, reason=error.detail)
        return events

    async def _fail(self, reason: str) -> None:
        told = self._secrets.hidden(reason)
        _log.warning("event source fails", source=self._name, reason=told)
        await self._note(source_status.failed(self._book.status, self._now(), told))

    async def _unexpected(self, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        _log.error("event source fails unexpectedly", source=self._name, trace=self._secrets.hidden(trace))
        # Not the error's text: it may hold anything, such as a connection string.
        await self._note(source_status.failed(self._book.status, self._now(), f"failed with {type(error).__name__}"))

    async def _note(self, status: EventSourceStatus) -> None:
        if status is not self._book.status:
            await self._book.note(status)

    def _surroundings(self, due: datetime) -> SourceSurroundings:
        place = self._place
        return SourceSurroundings(self._name, due, place.guard, place.clock, place.folders)

    def _now(self) -> datetime:
        return self._place.clock.now()


def _digest(use: SourceKind) -> str:
    """Tells what a source reads, without saying it."""
    return hashlib.blake2b(encode([use.identifier, use.origin()]), digest_size=16).hexdigest()
