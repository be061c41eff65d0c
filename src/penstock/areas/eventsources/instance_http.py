"""Operations on event sources that agents run."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.eventsources import shown
from penstock.areas.eventsources.agents import AgentSources
from penstock.areas.eventsources.catalogs import CatalogService
from penstock.areas.eventsources.instances import InstanceService, shown_v2, wanted_of
from penstock.areas.eventsources.instances import shown as instance_shown
from penstock.areas.eventsources.model import (
    DatabaseChangeTrackingDto,
    EventingEventSourceCatalogAgent,
    EventingEventSourceInstance,
    EventingEventSourceInstanceAgent,
    EventSourceDtov2,
    EventSourceInstanceStatus,
)
from penstock.areas.eventsources.overview import SourceOverview
from penstock.areas.eventsources.trackings import TrackingService
from penstock.connectors.registry import Family
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import Invalid
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class InstanceOperations:
    """Event sources that agents run, in both forms."""

    def __init__(self, instances: InstanceService, overview: SourceOverview) -> None:
        self._instances = instances
        self._overview = overview

    @operation("GET", "/eventing/instances/{id}", Role.READER)
    async def get(self, id: UUID) -> EventingEventSourceInstance:
        """Get an event source; secrets in its configuration are masked."""
        return instance_shown(await self._instances.get(id))

    @operation("DELETE", "/eventing/instances/{id}", Role.OPERATOR)
    async def delete(self, id: UUID, actor: Actor) -> None:
        """Delete an event source and its stream. Agents stop it; how far it has read is forgotten."""
        await self._instances.remove(id, actor)

    @operation("GET", "/eventing/instances", Role.READER)
    async def list(self) -> Sequence[EventingEventSourceInstance]:
        """List event sources, newest first; secrets in their configurations are masked."""
        return [instance_shown(instance) for instance in await self._instances.all()]

    @operation("POST", "/eventing/instances", Role.OPERATOR)
    async def create(self, instance: Body[EventingEventSourceInstance], actor: Actor) -> EventingEventSourceInstance:
        """Create an event source, which every agent runs that meets its Requirements.

        Its events are published, and copied to the stream `eventsource-<name>`. Name is unique. EventSourceType is the
        name of a kind (`GET /eventing/sources`), EventSourceVersion its version, the newest when it is left out.
        `{{var:NAME}}` in JsonConfiguration is replaced where the event source runs. A taken Name answers 409.
        """
        return instance_shown(await self._instances.create(wanted_of(instance), actor))

    @operation("PUT", "/eventing/instances", Role.OPERATOR)
    async def update(
        self, instance: Body[EventingEventSourceInstance], actor: Actor, if_match: IfMatch
    ) -> EventingEventSourceInstance:
        """Replace the event source of this Id.

        A masked secret stays as it is, as long as nothing else in JsonConfiguration changes. How far the event source
        has read is kept while it reads the same; otherwise it begins anew.
        """
        if instance.id is None:
            raise Invalid.one("Id", "is required")
        wanted = wanted_of(instance)
        changed = await self._instances.replace(instance.id, wanted, actor, if_match or instance.e_tag)
        return instance_shown(changed)

    @operation("GET", "/eventing/instances/{id}/status", Role.READER, beyond=True)
    async def status(self, id: UUID) -> Sequence[EventSourceInstanceStatus]:
        """List the agents that run an event source, with its status on each and its latest moves.

        An agent that has not reported yet shows New. The list is empty when no agent meets the requirements.
        """
        return await self._overview.of(id)

    @operation("GET", "/eventsources/v2", Role.READER)
    async def list_v2(self) -> Sequence[EventSourceDtov2]:
        """List event sources as configuration documents describe them, newest first."""
        return [shown_v2(instance) for instance in await self._instances.all()]

    @operation("GET", "/eventsources/v2/{name}", Role.READER)
    async def get_v2(self, name: str) -> EventSourceDtov2:
        """Get an event source as a configuration document describes it. Its name is compared without case."""
        return shown_v2(await self._instances.named(name))


class TrackingOperations:
    """Configurations that track the changes of tables."""

    def __init__(self, trackings: TrackingService) -> None:
        self._trackings = trackings

    @operation("GET", "/databasechangetracking/configurations", Role.READER)
    async def list(self) -> Sequence[DatabaseChangeTrackingDto]:
        """List the configurations of database change tracking, newest first; secrets are masked."""
        return await self._trackings.all()

    @operation("GET", "/databasechangetracking/configurations/{name}", Role.READER)
    async def get(self, name: str) -> DatabaseChangeTrackingDto:
        """Get a configuration of database change tracking. Its name is compared without case."""
        return await self._trackings.shown(name)


class AgentSourceOperations:
    """What agents ask for over HTTP."""

    def __init__(self, catalogs: CatalogService, sources: AgentSources) -> None:
        self._catalogs = catalogs
        self._sources = sources

    @operation("GET", "/agent/eventing/catalog", Role.AGENT, Role.READER)
    async def catalog(self) -> Sequence[EventingEventSourceCatalogAgent]:
        """List the catalogs whose event sources agents may have to run."""
        return [shown.agent_catalog(catalog) for catalog in await self._catalogs.all(Family.SOURCE)]

    @operation("GET", "/agent/{id}/eventing/{eventSourceInstanceId}", Role.AGENT, own="id")
    async def instance(self, id: UUID, event_source_instance_id: UUID) -> EventingEventSourceInstanceAgent:
        """Get one of the calling agent's event sources, with the secrets in its configuration.

        One that does not exist, or is not this agent's, answers 404.
        """
        return await self._sources.shown_one(id, event_source_instance_id)

    @operation("GET", "/agent/eventing/eventSourceInstances", Role.AGENT, own="agent_id")
    async def instances(self, agent_id: UUID) -> Sequence[EventingEventSourceInstanceAgent]:
        """List the calling agent's event sources, with the secrets in their configurations."""
        return await self._sources.shown(agent_id)
