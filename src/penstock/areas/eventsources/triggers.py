"""What is done with triggers: event sources that the servers run."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.areas.eventsources.configured import Configurations, Configured, Names, sealed
from penstock.areas.eventsources.model import Trigger, TriggerInstance
from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.stored import TRIGGER_RUNS, TRIGGERS, StoredTrigger, TriggerRun
from penstock.areas.eventsources.trigger_schedule import TriggerSchedule
from penstock.connectors import source_status
from penstock.connectors.cadence import Cadence, cadence_errors
from penstock.connectors.registry import configuration_object
from penstock.connectors.source import SourceKind
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.ports.channels import Channels
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store, decode
from penstock.store.write import Delete, Insert, Replace, Write

NAMES = Names("TypeName", "TypeName", "Configuration")
_CADENCE = ("Frequency", "CronExpression")
_LONGEST = 64 * 1024
_ALL = 2**31 - 1
_TRIES = 10


class TriggerService:
    """Each trigger has a second document, under the same id, with what changes while it runs."""

    def __init__(
        self,
        store: Store,
        changes: Changes,
        clock: Clock,
        secrets: Secrets,
        configurations: Configurations,
        channels: Channels,
        guard: AddressGuard,
        schedule: TriggerSchedule,
        policy: EventSourcePolicy,
    ) -> None:
        self._store = store
        self._clock = clock
        self._configurations = configurations
        self._channels = channels
        self._guard = guard
        self._schedule = schedule
        self._zone = policy.zone
        self._sealed = Sealed(TRIGGERS, store, secrets, clock)
        self._triggers = Resource(TRIGGERS, store, changes, clock, kind="trigger", label="name")

    async def all(self) -> list[TriggerInstance]:
        """Newest first."""
        runs = await self._runs()
        return [_shown(trigger, runs.get(trigger.key)) for trigger in await self._triggers.decoded()]

    async def get(self, id: UUID) -> StoredTrigger:
        """Raises NotFound."""
        return await self._triggers.get(id)

    async def put(self, wanted: Trigger, actor: Actor) -> UUID:
        """Makes a trigger, or replaces the one of the Id given. Raises Invalid, NotFound for the channel."""
        id = _id(wanted)
        if wanted.target_channel and await self._channels.named(wanted.target_channel) is None:
            raise NotFound.of("channel", wanted.target_channel)
        for left in reversed(range(_TRIES)):
            try:
                return await self._put(id, wanted, actor)
            except Stale:
                if not left:
                    raise
        raise Stale

    async def remove(self, id: UUID, actor: Actor) -> None:
        """Raises NotFound."""
        trigger = await self.get(id)
        writes = [*self._triggers.plan_delete(trigger, actor), Delete(TRIGGER_RUNS, id, self._clock.now())]
        await self._triggers.commit(writes, trigger)
        await self._schedule.cancel(id)

    async def configured(self, trigger: StoredTrigger) -> Configured:
        """Its configuration with the secrets. Raises Invalid when its kind is not there any more, SecretUnreadable."""
        text = await self._sealed.open(trigger.key)
        return await self._configurations.stored(trigger.type, trigger.version, trigger.configuration, text)

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()

    async def _put(self, id: UUID, wanted: Trigger, actor: Actor) -> UUID:
        document = await self._store.get(TRIGGERS, id)
        before = decode(document.body, StoredTrigger) if document is not None else None
        configured = await self._checked(wanted, before)
        trigger = _described(wanted, configured, before)
        seal = self._sealed.seal(id, sealed(configured.secrets))
        if before is None:
            stored, writes = self._triggers.plan_create(msgspec.structs.replace(trigger, id=id), actor, seal)
        else:
            stored, writes = self._triggers.plan_replace(trigger, before, actor, sealed=seal)
        run, write = await self._plan_run(stored, configured.kind)
        await self._triggers.commit([*writes, write], stored)
        if run.next_due is not None:
            await self._schedule.put(stored, run.next_due)
        return id

    async def _checked(self, wanted: Trigger, before: StoredTrigger | None) -> Configured:
        errors = cadence_errors(wanted.frequency, wanted.cron_expression, _CADENCE)
        if len(wanted.configuration or "") > _LONGEST:
            errors.append(FieldError("Configuration", f"must have at most {_LONGEST} characters"))
        try:
            configured = await self._configurations.checked(
                wanted.type_name,
                None,
                wanted.configuration,
                NAMES,
                before=await self._known(before) if before is not None else None,
                guard=self._guard,
            )
        except Invalid as error:
            raise Invalid([*errors, *error.errors]) from None
        if not configured.kind.on_servers:
            errors.append(FieldError("TypeName", f"the type {configured.kind.identifier} runs on agents only"))
        if errors:
            raise Invalid(errors)
        return configured

    async def _known(self, before: StoredTrigger) -> Configured | None:
        try:
            return await self.configured(before)
        except Invalid:
            return None  # its kind is gone: its secrets cannot be told from the rest

    async def _plan_run(self, trigger: StoredTrigger, kind: type[SourceKind]) -> tuple[TriggerRun, Write]:
        """The document of a trigger that is new or has changed. Its position and whoever is at it stay."""
        now = self._clock.now()
        due = self._first_due(trigger, kind, now)
        document = await self._store.get(TRIGGER_RUNS, trigger.key)
        if document is None:
            new = TriggerRun(
                id=trigger.key,
                e_tag=new_id().hex,
                created_date=now,
                stamp=trigger.stamp,
                status=source_status.new_status(now),
                next_due=due,
            )
            return new, Insert(TRIGGER_RUNS, trigger.key, new.e_tag or "", new, now)
        before = decode(document.body, TriggerRun)
        run = msgspec.structs.replace(
            before,
            e_tag=new_id().hex,
            stamp=trigger.stamp,
            status=source_status.stopped(before.status, now),
            next_due=due,
        )
        return run, Replace(TRIGGER_RUNS, trigger.key, run.e_tag or "", run, now, expected=document.e_tag)

    def _first_due(self, trigger: StoredTrigger, kind: type[SourceKind], now: datetime) -> datetime | None:
        # One that keeps a position takes it at once: what changes from now on is to be found when it is due.
        if kind.stateful or not trigger.polling or not trigger.cron:
            return now
        return Cadence.of(trigger.frequency, trigger.cron, self._zone).next_due(now, now)

    async def _runs(self) -> Mapping[UUID, TriggerRun]:
        documents = await self._store.list(TRIGGER_RUNS, limit=_ALL)
        return {document.id: decode(document.body, TriggerRun) for document in documents}


def _id(wanted: Trigger) -> UUID:
    if not wanted.id:
        return new_id()
    try:
        return UUID(wanted.id)
    except ValueError:
        raise Invalid.one("Id", "must be a guid") from None


def _described(wanted: Trigger, configured: Configured, before: StoredTrigger | None) -> StoredTrigger:
    base = before or StoredTrigger(type="", version="")
    return msgspec.structs.replace(
        base,
        type=configured.kind.identifier,
        version=configured.kind.version,
        configuration=configured.text,
        polling=configured.kind.requires_polling,
        references=configured.references,
        frequency=wanted.frequency,
        cron=" ".join(wanted.cron_expression.split()) if wanted.cron_expression else None,
        channel=wanted.target_channel or None,
        stamp=new_id().hex,
    )


def _shown(trigger: StoredTrigger, run: TriggerRun | None) -> TriggerInstance:
    return TriggerInstance(
        id=str(trigger.key),
        type=trigger.type,
        configuration=configuration_object(trigger.configuration),
        status=run.status if run is not None else None,
        cron_expression=trigger.cron,
        frequency=trigger.frequency,
    )
