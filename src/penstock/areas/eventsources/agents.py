"""Which event sources an agent is to run, and what it is told of them."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.areas.eventsources.model import EventingEventSourceInstanceAgent
from penstock.areas.eventsources.stored import INSTANCES, SourceInstance
from penstock.kernel.errors import Invalid, NotFound
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.protocol.capability import satisfies
from penstock.protocol.event_source import SourceAnswer, SourceItem, SourcePackage, SourceQuery
from penstock.protocol.work import VariableAnswer, VariableQuery, VariableValue
from penstock.resource.mirror import Mirror
from penstock.resource.ports import AgentDirectory, KnownAgent, Variables
from penstock.resource.secrets import SecretUnreadable
from penstock.store.store import Store

log = structlog.get_logger(__name__)

_BYTES = 2 * 1024 * 1024  # of items in one answer; the bus takes 8 MiB
_NAMES = 5000


class AgentSources:
    """Answers agents. Every agent that meets an event source's requirements runs it."""

    def __init__(
        self,
        store: Store,
        directory: AgentDirectory,
        instances: InstanceService,
        kinds: KnownKinds,
        variables: Variables,
    ) -> None:
        self._mirror = Mirror(store, INSTANCES, lambda instance: instance)
        self._directory = directory
        self._instances = instances
        self._kinds = kinds
        self._variables = variables

    async def of(self, agent_id: UUID) -> list[SourceInstance]:
        """The event sources of an agent, in the order of their ids; none of one that is unknown or deprecated."""
        agents = {agent.id: agent for agent in await self._directory.agents(fresh=True)}
        agent = agents.get(agent_id)
        if agent is None or not agent.works:
            return []
        present = (await self._mirror.current()).values()
        return sorted((each for each in present if _runs(agent, each)), key=lambda each: each.key)

    async def agents_of(self, instance: SourceInstance) -> Sequence[KnownAgent]:
        """The agents that run an event source."""
        return [agent for agent in await self._directory.agents(fresh=True) if _runs(agent, instance)]

    async def answer(self, agent_id: UUID, query: SourceQuery) -> SourceAnswer:
        """A page of the agent's event sources, with the secrets in their configurations."""
        answer = SourceAnswer(items=[], unchanged=[])
        room = _BYTES
        for instance in await self.of(agent_id):
            if query.after is not None and instance.key <= query.after:
                continue
            if query.stamps.get(str(instance.key)) == instance.stamp and await self._is_known(instance):
                answer.unchanged.append(instance.key)
            elif (item := await self._item(instance)) is not None:
                room -= len(encode(item))
                if room < 0 and answer.items:
                    break
                answer.items.append(item)
            answer.next = instance.key
        else:
            answer.next = None
        return answer

    async def variables(self, agent_id: UUID, query: VariableQuery) -> VariableAnswer:
        """Values of those variables asked for that the agent's event sources refer to."""
        referred = {name_key(name) for instance in await self.of(agent_id) for name in instance.references}
        asked = [name for name in query.names[:_NAMES] if name_key(name) in referred]
        values = await self._variables.values(asked) if asked else {}
        return VariableAnswer(
            values={name: VariableValue(value=value, is_secret=secret) for name, (value, secret) in values.items()}
        )

    async def shown(self, agent_id: UUID) -> list[EventingEventSourceInstanceAgent]:
        """The agent's event sources as the API shows them to it, with the secrets."""
        return [_shown(item) for instance in await self.of(agent_id) if (item := await self._item(instance))]

    async def shown_one(self, agent_id: UUID, id: UUID) -> EventingEventSourceInstanceAgent:
        """Raises NotFound, also for one that is not the agent's."""
        for instance in await self.of(agent_id):
            if instance.id == id and (item := await self._item(instance)) is not None:
                return _shown(item)
        raise NotFound.of("event source", id)

    async def _is_known(self, instance: SourceInstance) -> bool:
        """Whether its kind is still there."""
        try:
            await self._kinds.source(instance.type, instance.version)
        except Invalid:
            return False
        return True

    async def _item(self, instance: SourceInstance) -> SourceItem | None:
        """None, logged, for one that cannot be run: its kind is gone, or its secrets cannot be read."""
        try:
            registered = await self._kinds.source(instance.type, instance.version)
            configured = await self._instances.configured(instance)
        except (Invalid, SecretUnreadable) as error:
            log.error("event source cannot be given to agents", source=instance.name, reason=error.detail)
            return None
        package = SourcePackage(name=registered.package, version=registered.package_version)
        return SourceItem(
            id=instance.key,
            name=instance.name,
            stamp=instance.stamp,
            type=instance.type,
            version=instance.version,
            configuration=encode(configured.opened()).decode(),
            requires_polling=configured.kind.requires_polling,
            stateful=configured.kind.stateful,
            shared=configured.kind.shared,
            has_secrets=bool(configured.secrets),
            frequency=instance.frequency,
            cron=instance.cron,
            variables=instance.variables,
            package=package if registered.packaged else None,
            schema=encode(configured.kind.schema()).decode() if registered.packaged else None,
        )


def _runs(agent: KnownAgent, instance: SourceInstance) -> bool:
    return agent.works and satisfies(agent.capabilities, instance.requirements)


def _shown(item: SourceItem) -> EventingEventSourceInstanceAgent:
    return EventingEventSourceInstanceAgent(
        event_source_instance_id=item.id,
        event_source_id=f"source:{item.type}@{item.version}",
        name=item.name,
        event_source_type=item.type,
        event_source_version=item.version,
        configuration=item.configuration,
        polling_frequency=item.frequency,
        cron_expression=item.cron,
    )
