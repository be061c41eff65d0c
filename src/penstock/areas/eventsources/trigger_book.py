"""What of a trigger survives restarts, written only by the one who has claimed it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from penstock.areas.eventsources.source_events import SourceEvents
from penstock.areas.eventsources.stored import TRIGGER_RUNS, Claim, StoredTrigger, TriggerRun
from penstock.connectors.source import Position
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, PenstockError, Stale
from penstock.kernel.ids import new_id
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventSourceStatus
from penstock.store.store import Store, decode
from penstock.store.write import Replace


class Superseded(PenstockError):
    """The trigger was changed or removed, or somebody else runs it now."""

    code = "superseded"
    title = "The trigger is another one now"


class TriggerBook:
    """See connectors.source_runner.Book. Every write expects the one before it, and raises Superseded."""

    def __init__(
        self, trigger: StoredTrigger, run: TriggerRun, store: Store, events: SourceEvents, clock: Clock
    ) -> None:
        self._trigger = trigger
        self._run = run
        self._store = store
        self._events = events
        self._clock = clock

    @property
    def run(self) -> TriggerRun:
        return self._run

    @property
    def position(self) -> Position:
        return self._run.position

    @property
    def status(self) -> EventSourceStatus:
        return self._run.status

    async def keep(self, events: Sequence[CloudEvent], position: Position) -> None:
        """Publishes the events, then keeps the position: when that fails they are found, and passed over, again."""
        channels = [self._trigger.channel] if self._trigger.channel else None
        await self._events.publish(events, channels=channels)
        if position != self._run.position:
            await self._write(position=position)

    async def note(self, status: EventSourceStatus) -> None:
        await self._write(status=status)

    async def claim(self, message: int) -> None:
        """Nobody else runs the trigger from now on, unless the due message comes to somebody else."""
        await self._write(claim=Claim(message=message, at=self._clock.now()))

    async def finish(self, message: int, next_due: datetime | None) -> None:
        """Gives the claim back; the due message has been seen to."""
        await self._write(claim=None, done=message, next_due=next_due)

    async def _write(self, **changes: Any) -> None:
        after = msgspec.structs.replace(self._run, e_tag=new_id().hex, **changes)
        now, id, e_tag = self._clock.now(), self._run.key, after.e_tag or ""
        try:
            await self._store.commit([Replace(TRIGGER_RUNS, id, e_tag, after, now, expected=self._run.e_tag)])
        except (Stale, NotFound):
            raise Superseded from None
        self._run = after


async def release(store: Store, clock: Clock, run: TriggerRun) -> None:
    """Gives a claim back that was superseded, if it still stands."""
    while True:
        document = await store.get(TRIGGER_RUNS, run.key)
        if document is None:
            return
        current = decode(document.body, TriggerRun)
        if current.claim is None or run.claim is None or current.claim.message != run.claim.message:
            return
        after = msgspec.structs.replace(current, e_tag=new_id().hex, claim=None)
        replace = Replace(TRIGGER_RUNS, run.key, after.e_tag or "", after, clock.now(), expected=document.e_tag)
        try:
            await store.commit([replace])
        except (Stale, NotFound):
            continue
        return
