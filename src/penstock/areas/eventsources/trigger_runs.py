"""Running triggers: one replica at a time runs each, and runs of one never overlap.

A due message is the right to run the trigger. Whoever gets it claims the trigger with the message's number, runs it,
writes down that it is done together with the next due time, puts the next due message, and only then acknowledges
this one. A replica that dies leaves its message to another, which may take over the claim, since it has the same
number. Everything that is done twice then changes nothing: events have the same ids, and a run that is done is not
repeated.
"""

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog

from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.source_events import SourceEvents
from penstock.areas.eventsources.stored import TRIGGER_RUNS, TRIGGERS, StoredTrigger, TriggerRun
from penstock.areas.eventsources.trigger_book import Superseded, TriggerBook, release
from penstock.areas.eventsources.trigger_schedule import TriggerSchedule, read
from penstock.areas.eventsources.triggers import TriggerService
from penstock.bus.consumer import Unprocessable
from penstock.bus.message import Delivered
from penstock.connectors.cadence import Cadence
from penstock.connectors.resolution import Secrets, resolved
from penstock.connectors.source import SourceKind
from penstock.connectors.source_runner import Place, SourceRunner
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.resource.ports.variables import Variables
from penstock.store.store import Store, decode

log = structlog.get_logger(__name__)

_PLACE = "servers"
_LOOK_SECONDS = 0.2


class TriggerRuns:
    """Sees to due messages."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        triggers: TriggerService,
        schedule: TriggerSchedule,
        events: SourceEvents,
        variables: Variables,
        guard: AddressGuard,
        policy: EventSourcePolicy,
    ) -> None:
        self._store = store
        self._clock = clock
        self._triggers = triggers
        self._schedule = schedule
        self._events = events
        self._variables = variables
        self._policy = policy
        self._place = Place(_PLACE, clock, guard, policy.folders, policy.pause)
        self._hints: set[asyncio.Event] = set()

    def changed(self) -> None:
        """A trigger may have been changed or removed: what this replica runs of it ends."""
        for hint in self._hints:
            hint.set()

    async def see_to(self, message: Delivered) -> None:
        """Runs the trigger that is due; returns when its next due message is there."""
        try:
            due = read(message.data)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise Unprocessable(str(error)) from None
        hint = asyncio.Event()
        self._hints.add(hint)
        try:
            await self._unless(hint, due.id, due.stamp, self._run(due.id, due.stamp, message.sequence))
        finally:
            self._hints.remove(hint)

    async def repair(self) -> None:
        """Puts due messages for triggers that nobody sees to; any number of replicas may do so."""
        overdue = self._clock.now() - self._policy.overdue
        for document in await self._store.list(TRIGGER_RUNS, limit=2**31 - 1):
            run = decode(document.body, TriggerRun)
            if run.next_due is None or run.next_due > overdue:
                continue
            if run.claim is None or not await self._schedule.holds(run.claim.message):
                await self._put_again(run)

    async def _put_again(self, run: TriggerRun) -> None:
        try:
            trigger = await self._triggers.get(run.key)
        except NotFound:
            return
        log.warning("trigger was left alone and is scheduled again", trigger=trigger.name)
        await self._schedule.put(trigger, self._clock.now())

    async def _unless(self, hint: asyncio.Event, id: UUID, stamp: str, work: Coroutine[Any, Any, None]) -> None:
        """Works until the trigger is another one, which is looked for at each hint."""
        working = asyncio.ensure_future(work)
        watching = asyncio.ensure_future(self._until_other(hint, id, stamp))
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            (working if working.done() else watching).result()
        finally:
            working.cancel()
            watching.cancel()
            await asyncio.wait({working, watching})

    async def _until_other(self, hint: asyncio.Event, id: UUID, stamp: str) -> None:
        while True:
            await hint.wait()
            hint.clear()
            if await self._is_other(id, stamp):
                return

    async def _is_other(self, id: UUID, stamp: str) -> bool:
        document = await self._store.get(TRIGGERS, id)
        return document is None or decode(document.body, StoredTrigger).stamp != stamp

    async def _run(self, id: UUID, stamp: str, message: int) -> None:
        book: TriggerBook | None = None
        try:
            trigger = await self._triggers.get(id)
            if trigger.stamp != stamp:
                return  # the changed one has a due message of its own
            book = await self._claimed(trigger, message)
            if book is None:
                return
            await self._work(trigger, book, message)
        except NotFound:
            return
        except Superseded:
            log.info("trigger was changed while it ran", trigger=str(id))
        finally:
            if book is not None and book.run.claim is not None and await self._is_other(id, stamp):
                await release(self._store, self._clock, book.run)

    async def _claimed(self, trigger: StoredTrigger, message: int) -> TriggerBook | None:
        """The right to run the trigger; None when the message was seen to before, which then has its successor."""
        while True:
            document = await self._store.get(TRIGGER_RUNS, trigger.key)
            if document is None:
                raise NotFound.of("trigger", trigger.key)
            run = decode(document.body, TriggerRun)
            if run.done == message:
                await self._put_next(trigger, run.next_due)
                return None
            free = run.claim is None or run.claim.message == message
            if free or (run.claim is not None and not await self._schedule.holds(run.claim.message)):
                book = TriggerBook(trigger, run, self._store, self._events, self._clock)
                try:
                    await book.claim(message)
                except Superseded:
                    continue
                return book
            # The one before the change, or a second due message: runs must not overlap.
            await asyncio.sleep(_LOOK_SECONDS)

    async def _work(self, trigger: StoredTrigger, book: TriggerBook, message: int) -> None:
        async def build(secrets: Secrets) -> SourceKind:
            return await self._built(trigger, secrets)

        runner = SourceRunner(trigger.name, trigger.key, build, book, self._place)
        if not trigger.polling:
            await runner.listen_on()
        due = book.run.next_due or self._clock.now()
        wait = await runner.poll(due)
        next_due = self._next_due(trigger, due, wait)
        await book.finish(message, next_due)
        await self._put_next(trigger, next_due)

    async def _built(self, trigger: StoredTrigger, secrets: Secrets) -> SourceKind:
        configured = await self._triggers.configured(trigger)
        values = await self._variables.values(trigger.references)
        use = resolved(configured.kind, configured.opened(), values, secrets)
        assert isinstance(use, SourceKind)
        return use

    def _next_due(self, trigger: StoredTrigger, due: datetime, wait: float | None) -> datetime | None:
        now = self._clock.now()
        cadence = Cadence.of(trigger.frequency, trigger.cron, self._policy.zone)
        following = cadence.next_due(due, now)
        return max(following, now + timedelta(seconds=wait)) if following is not None and wait else following

    async def _put_next(self, trigger: StoredTrigger, next_due: datetime | None) -> None:
        if next_due is not None:  # else its cron expression is never due again
            await self._schedule.put(trigger, next_due)
