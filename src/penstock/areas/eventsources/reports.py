"""Taking in what agents report of event sources: events published, states kept."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog

from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.source_events import SourceEvents
from penstock.areas.eventsources.states import SourceStates
from penstock.areas.eventsources.stored import SourceInstance
from penstock.kernel.errors import Invalid
from penstock.protocol.capability import satisfies
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventReport, SourceEvent
from penstock.resource.ports.agents import AgentDirectory, KnownAgent

log = structlog.get_logger(__name__)

Reports = Sequence[tuple[UUID, EventReport]]


class SourceReports:
    """The same report may come again, and changes nothing then."""

    def __init__(
        self, instances: InstanceService, events: SourceEvents, states: SourceStates, directory: AgentDirectory
    ) -> None:
        self._instances = instances
        self._events = events
        self._states = states
        self._directory = directory

    async def take(self, reports: Reports) -> None:
        """Publishes the events in their order, then keeps the states. Raises Unavailable: try again."""
        instances = await self._known(reports)
        agents = {agent.id: agent for agent in await self._directory.agents()}
        for agent_id, report in reports:
            for source_id, events in _by_source(report.events).items():
                instance = instances.get(source_id)
                if instance is None or not await self._may_report(agents.get(agent_id), instance):
                    log.warning("events dropped", agent=str(agent_id), source=str(source_id), events=len(events))
                    continue
                await self._events.publish_what_fits(events, instance.name)
        states = [(agent_id, state) for agent_id, report in reports for state in report.states]
        await self._states.take(states)

    async def _known(self, reports: Reports) -> Mapping[UUID, SourceInstance]:
        ids = {event.source_id for _, report in reports for event in report.events}
        return {instance.key: instance for instance in await self._instances.by_ids(list(ids))}

    async def _may_report(self, agent: KnownAgent | None, instance: SourceInstance) -> bool:
        """An agent reports for what it runs, or did run."""
        if agent is None:
            return False
        if satisfies(agent.capabilities, instance.requirements):
            return True
        return agent.id in await self._states.of_item(instance.key)


def _by_source(reported: Sequence[SourceEvent]) -> Mapping[UUID, list[CloudEvent]]:
    events: dict[UUID, list[CloudEvent]] = {}
    for each in reported:
        try:
            event = CloudEvent.from_json(bytes(each.event))
        except Invalid as error:
            log.error("reported event is none and is dropped", source=str(each.source_id), reason=error.detail)
            continue
        events.setdefault(each.source_id, []).append(event)
    return events
