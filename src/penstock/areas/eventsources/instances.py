"""What is done with event sources that agents run."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from penstock.areas.eventsources.configured import Configurations, Configured, Names, sealed
from penstock.areas.eventsources.model import EventingEventSourceInstance, EventSourceDtov2
from penstock.areas.eventsources.states import SourceStates
from penstock.areas.eventsources.stored import INSTANCES, LONGEST_NAME, SourceInstance
from penstock.areas.eventsources.streams import SourceStreams
from penstock.connectors.cadence import cadence_errors
from penstock.connectors.registry import configuration_object
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.duration import Duration
from penstock.kernel.errors import FieldError, Invalid, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.kernel.wire import Map
from penstock.protocol.capability import Requirement
from penstock.resource.changes import Changes
from penstock.resource.matching import requirement_errors
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store, Where
from penstock.store.write import Write

NAMES = Names("EventSourceType", "EventSourceVersion", "JsonConfiguration")
_CADENCE = ("PollingFrequency", "CronExpression")
_LONGEST = 64 * 1024
_TRIES = 10


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An event source as somebody wants it. configuration: JSON, secrets in the clear, or masked where they stay.

    names, cadence, name_field: what the caller calls its parts, in errors.
    """

    name: str | None
    type: str | None
    version: str | None = None
    configuration: str | None = None
    description: str | None = None
    frequency: Duration | None = None
    cron: str | None = None
    requirements: Sequence[Requirement] = ()
    variables: Map | None = None
    tracking: str | None = None
    id: UUID | None = None
    time_to_live: int | None = None
    names: Names = NAMES
    cadence: tuple[str, str] = _CADENCE
    name_field: str = "Name"


class InstanceService:
    """Event sources, each with a stream of its events. Secrets are sealed beside the event source."""

    def __init__(
        self,
        store: Store,
        changes: Changes,
        clock: Clock,
        secrets: Secrets,
        configurations: Configurations,
        states: SourceStates,
        streams: SourceStreams,
    ) -> None:
        self._configurations = configurations
        self._states = states
        self._streams = streams
        self._sealed = Sealed(INSTANCES, store, secrets, clock)
        self._instances = Resource(INSTANCES, store, changes, clock, kind="event source")

    async def all(self) -> list[SourceInstance]:
        """Newest first."""
        return await self._instances.decoded()

    async def get(self, id: UUID) -> SourceInstance:
        """Raises NotFound."""
        return await self._instances.get(id)

    async def named(self, name: str) -> SourceInstance:
        """Raises NotFound."""
        return await self._instances.named(name)

    async def find(self, name: str) -> SourceInstance | None:
        return await self._instances.find("name", name)

    async def by_ids(self, ids: Sequence[UUID]) -> list[SourceInstance]:
        """Those that exist."""
        return await self._instances.decoded([Where("id", "in", [str(id) for id in ids])]) if ids else []

    async def create(self, wanted: Wanted, actor: Actor) -> SourceInstance:
        """Raises Invalid, NameTaken."""
        instance, writes = await self.plan(wanted, None, actor)
        await self._streams.ensure(instance.name)
        await self._instances.commit(writes, instance)
        return instance

    async def replace(self, id: UUID, wanted: Wanted, actor: Actor, if_match: str | None) -> SourceInstance:
        """Raises NotFound, Invalid, Stale, NameTaken."""
        before = await self.get(id)
        _check_untracked(before)
        instance, writes = await self.plan(wanted, before, actor, if_match)
        if writes:
            await self._streams.ensure(instance.name)
            await self._instances.commit(writes, instance)
        return instance

    async def remove(self, id: UUID, actor: Actor) -> None:
        """Raises NotFound, Invalid."""
        for left in reversed(range(_TRIES)):
            instance = await self.get(id)
            _check_untracked(instance)
            try:
                await self._instances.commit(await self.plan_remove(instance, actor), instance)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            await self._streams.remove(instance.name)
            return

    async def plan(
        self, wanted: Wanted, before: SourceInstance | None, actor: Actor, if_match: str | None = None
    ) -> tuple[SourceInstance, Sequence[Write]]:
        """The event source as it will be, and the writes that make it so; none when nothing differs.

        Its stream must exist before they are committed. Raises Invalid.
        """
        errors = _errors(wanted)
        known = await self._known(before) if before is not None else None
        try:
            configured = await self._configurations.checked(
                wanted.type, wanted.version, wanted.configuration, wanted.names, before=known
            )
        except Invalid as error:
            raise Invalid([*errors, *error.errors]) from None
        if errors:
            raise Invalid(errors)
        instance = _described(wanted, configured, before)
        if before is None:
            # The id must be known before the secrets can be sealed for it.
            instance = msgspec.structs.replace(instance, id=wanted.id or new_id())
            return self._instances.plan_create(instance, actor, self._seal(instance, configured))
        if instance == before and known is not None and configured.secrets == known.secrets and if_match is None:
            return before, ()
        changed = msgspec.structs.replace(instance, stamp=new_id().hex)
        return self._instances.plan_replace(
            changed, before, actor, if_match=if_match, sealed=self._seal(before, configured)
        )

    async def plan_remove(self, instance: SourceInstance, actor: Actor) -> Sequence[Write]:
        """The writes that remove it."""
        forgotten = await self._states.plan_remove(instance.key)
        return [*self._instances.plan_delete(instance, actor, instance.e_tag), *forgotten]

    async def announce(self, instance: SourceInstance) -> None:
        """Tells of a change, once it is committed."""
        await self._instances.commit([], instance)

    async def configured(self, instance: SourceInstance) -> Configured:
        """Its configuration with the secrets. Raises Invalid when its kind is not there any more, SecretUnreadable."""
        text = await self._sealed.open(instance.key)
        return await self._configurations.stored(instance.type, instance.version, instance.configuration, text)

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()

    async def _known(self, before: SourceInstance) -> Configured | None:
        try:
            return await self.configured(before)
        except Invalid:
            return None  # its kind is gone: its secrets cannot be told from the rest

    def _seal(self, instance: SourceInstance, configured: Configured) -> bytes | None:
        return self._sealed.seal(instance.key, sealed(configured.secrets))


def shown(instance: SourceInstance) -> EventingEventSourceInstance:
    return EventingEventSourceInstance(
        **instance.base,
        name=instance.name,
        event_source_type=instance.type,
        event_source_version=instance.version,
        json_configuration=instance.configuration,
        description=instance.description,
        polling_frequency=instance.frequency,
        cron_expression=instance.cron,
        requirements=instance.requirements,
    )


def shown_v2(instance: SourceInstance) -> EventSourceDtov2:
    return EventSourceDtov2(
        name=instance.name,
        description=instance.description,
        type=instance.type,
        parameters=configuration_object(instance.configuration),
        variables=instance.variables,
        requirements={each.identifier or "": each.value for each in instance.requirements},
        created_at=instance.created_date,
    )


def wanted_of(instance: EventingEventSourceInstance) -> Wanted:
    return Wanted(
        id=instance.id,
        time_to_live=instance.time_to_live,
        name=instance.name,
        type=instance.event_source_type,
        version=instance.event_source_version,
        configuration=instance.json_configuration,
        description=instance.description,
        frequency=instance.polling_frequency,
        cron=instance.cron_expression,
        requirements=instance.requirements or (),
    )


def _described(wanted: Wanted, configured: Configured, before: SourceInstance | None) -> SourceInstance:
    base = before or SourceInstance(name=wanted.name or "", type="", version="", stamp=new_id().hex)
    return msgspec.structs.replace(
        base,
        name=wanted.name or "",
        type=configured.kind.identifier,
        version=configured.kind.version,
        configuration=configured.text,
        references=configured.references,
        description=wanted.description,
        frequency=wanted.frequency,
        cron=" ".join(wanted.cron.split()) if wanted.cron else None,
        requirements=list(wanted.requirements),
        variables=wanted.variables if wanted.variables is not None or before is None else before.variables,
        tracking=wanted.tracking,
        time_to_live=wanted.time_to_live,
    )


def _errors(wanted: Wanted) -> list[FieldError]:
    errors = name_errors(wanted.name_field, wanted.name, LONGEST_NAME)
    errors += cadence_errors(wanted.frequency, wanted.cron, wanted.cadence)
    if len(wanted.configuration or "") > _LONGEST:
        errors.append(FieldError(wanted.names.configuration, f"must have at most {_LONGEST} characters"))
    return [*errors, *requirement_errors(wanted.requirements)]


def _check_untracked(instance: SourceInstance) -> None:
    if instance.tracking is not None:
        raise Invalid.one(
            "Name", f"belongs to the DatabaseChangeTracking '{instance.tracking}', which is changed instead"
        )
