"""How an event source stands on the agents that run it."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.eventsources.assignments import SourceAssignments
from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.model import EventSourceInstanceStatus
from penstock.areas.eventsources.states import SourceStates
from penstock.connectors.source_status import new_status


class SourceOverview:
    """Reads of states, joined with agents."""

    def __init__(self, instances: InstanceService, sources: SourceAssignments, states: SourceStates) -> None:
        self._instances = instances
        self._sources = sources
        self._states = states

    async def of(self, id: UUID) -> Sequence[EventSourceInstanceStatus]:
        """Raises NotFound."""
        instance = await self._instances.get(id)
        states = await self._states.of_item(id)
        return [
            EventSourceInstanceStatus(
                agent_id=agent.id,
                agent_name=agent.name,
                online=agent.online,
                status=states.get(agent.id) or new_status(instance.update_date or instance.created_date),
            )
            for agent in await self._sources.agents_of(instance)
        ]
