"""An agent's event sources as the API shows them to it."""

from uuid import UUID

from penstock.areas.eventsources.assignments import SourceAssignments
from penstock.areas.eventsources.model import EventingEventSourceInstanceAgent
from penstock.areas.eventsources.stored import SourceInstance
from penstock.kernel.errors import NotFound
from penstock.protocol.event_source import SourceItem


class AgentSources:
    """Those that it has to run, with the secrets in their configurations."""

    def __init__(self, assignments: SourceAssignments) -> None:
        self._assignments = assignments

    async def shown(self, agent_id: UUID) -> list[EventingEventSourceInstanceAgent]:
        """In the order of their ids."""
        found = [await self._shown(instance) for instance in await self._assignments.of(agent_id)]
        return [each for each in found if each is not None]

    async def shown_one(self, agent_id: UUID, id: UUID) -> EventingEventSourceInstanceAgent:
        """Raises NotFound, also for one that is not the agent's."""
        for instance in await self._assignments.of(agent_id):
            if instance.id == id and (shown := await self._shown(instance)) is not None:
                return shown
        raise NotFound.of("event source", id)

    async def _shown(self, instance: SourceInstance) -> EventingEventSourceInstanceAgent | None:
        body = await self._assignments.body(instance)
        if body is None:
            return None
        item = body.content
        assert isinstance(item, SourceItem)
        return EventingEventSourceInstanceAgent(
            event_source_instance_id=instance.key,
            event_source_id=f"source:{item.type}@{item.version}",
            name=item.name,
            event_source_type=item.type,
            event_source_version=item.version,
            configuration=item.configuration,
            polling_frequency=item.frequency,
            cron_expression=item.cron,
        )
