"""Configurations of database change tracking, each with the event source that it makes."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from penstock.areas.eventsources.instances import InstanceService, Wanted
from penstock.areas.eventsources.model import DatabaseChangeTrackingDto
from penstock.areas.eventsources.stored import LONGEST_NAME, TRACKINGS, SourceInstance, SourceTracking
from penstock.connectors.registry import configuration_object
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import Map
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write

SOURCE_TYPE = "database-change"
_PREFIX = "databasechange-"
LONGEST = LONGEST_NAME - len(_PREFIX)


class TrackingService:
    """Reads, and plans of changes. The parameters, and their secrets, are kept with the event source."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, instances: InstanceService) -> None:
        self._instances = instances
        self._changes = changes
        self._trackings = Resource(TRACKINGS, store, changes, clock, kind="database change tracking")

    async def all(self) -> list[DatabaseChangeTrackingDto]:
        """Newest first."""
        instances = {instance.key: instance for instance in await self._instances.all()}
        return [_shown(tracking, instances) for tracking in await self._trackings.decoded()]

    async def shown(self, name: str) -> DatabaseChangeTrackingDto:
        """Raises NotFound."""
        tracking = await self._trackings.named(name)
        return _shown(tracking, {each.key: each for each in await self._instances.by_ids([tracking.instance])})

    async def find(self, name: str) -> tuple[SourceTracking, SourceInstance] | None:
        """The configuration and its event source."""
        tracking = await self._trackings.find("name", name)
        if tracking is None:
            return None
        return tracking, await self._instances.get(tracking.instance)

    async def plan(
        self, wanted: Wanted, kind: str, before: tuple[SourceTracking, SourceInstance] | None, actor: Actor
    ) -> tuple[SourceInstance, Sequence[Write]]:
        """The event source as it will be, and the writes that make both so; none when nothing differs.

        wanted: the event source, under the configuration's name. kind: the configuration's type. Raises Invalid.
        """
        tracking, known = before if before is not None else (None, None)
        made = _made(wanted, tracking)
        instance, writes = await self._instances.plan(made, known, actor)
        if tracking is None:
            new = SourceTracking(
                name=wanted.name or "",
                description=wanted.description,
                type=kind,
                variables=wanted.variables,
                instance=instance.key,
            )
            return instance, [*writes, *self._trackings.plan_create(new, actor)[1]]
        after = msgspec.structs.replace(tracking, description=wanted.description, type=kind, variables=wanted.variables)
        if after == tracking and not writes:
            return instance, ()
        return instance, [*writes, *self._trackings.plan_replace(after, tracking, actor)[1]]

    async def plan_removal(self, tracking: SourceTracking, instance: SourceInstance, actor: Actor) -> Sequence[Write]:
        """The writes that remove both."""
        removed = self._trackings.plan_delete(tracking, actor, tracking.e_tag)
        return [*removed, *await self._instances.plan_remove(instance, actor)]

    async def announce(self, instance: SourceInstance) -> None:
        """Tells of a change, once it is committed."""
        await self._instances.announce(instance)
        await self._changes.tell(TRACKINGS.name, instance.tracking or "")


def _made(wanted: Wanted, tracking: SourceTracking | None) -> Wanted:
    name = tracking.name if tracking is not None else wanted.name or ""
    return Wanted(
        name=_PREFIX + name,
        type=SOURCE_TYPE,
        configuration=wanted.configuration,
        description=wanted.description,
        frequency=wanted.frequency,
        cron=wanted.cron,
        requirements=wanted.requirements,
        variables=wanted.variables,
        tracking=name,
        names=wanted.names,
        cadence=wanted.cadence,
        name_field=wanted.name_field,
    )


def parameters_of(instance: SourceInstance) -> Map:
    """What the configuration says of it, secrets masked."""
    return {name: value for name, value in configuration_object(instance.configuration).items() if name != "tracking"}


def _shown(tracking: SourceTracking, instances: Mapping[UUID, SourceInstance]) -> DatabaseChangeTrackingDto:
    instance = instances.get(tracking.instance)
    if instance is None:
        raise NotFound.of("event source", tracking.instance)
    return DatabaseChangeTrackingDto(
        name=tracking.name,
        description=tracking.description,
        type=tracking.type,
        parameters=parameters_of(instance),
        variables=tracking.variables,
        created_at=tracking.created_date,
    )
