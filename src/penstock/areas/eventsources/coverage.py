"""Keeps note of event sources that no agent runs: such a one does not run, and that is visible."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import structlog

from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.stored import INSTANCES, UNMATCHED_SOURCES, SourceInstance, UnmatchedSource
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.wire import Wire
from penstock.protocol.capability import satisfies
from penstock.resource.audit import audit
from penstock.resource.ports import AgentDirectory, KnownAgent
from penstock.store.store import Store, decode
from penstock.store.write import Append, Delete, Insert, Write

log = structlog.get_logger(__name__)


class SourceCoverageEvent(Wire):
    """What the entity event of an event source says when agents begin or cease to match."""

    message: str


class SourceCoverage:
    """Compares event sources with agents. One entity event tells of each change."""

    def __init__(self, store: Store, clock: Clock, directory: AgentDirectory, instances: InstanceService) -> None:
        self._store = store
        self._clock = clock
        self._directory = directory
        self._instances = instances

    async def check(self) -> None:
        """Notes for each event source whether an agent matches it; any number of replicas may do so."""
        agents = [agent for agent in await self._directory.agents(fresh=True) if agent.works]
        instances = {instance.key: instance for instance in await self._instances.all()}
        noted = {UUID(str(id)) for (id,) in await self._store.values(UNMATCHED_SOURCES, ["id"])}
        unmatched = {id for id, instance in instances.items() if not _matched(instance, agents)}
        for id in unmatched - noted:
            await self._commit(self._plan_unmatched(instances[id]))
        for id in noted - unmatched:
            await self._commit(self._plan_matched(id, instances.get(id)))

    async def unmatched_since(self, id: UUID) -> datetime | None:
        """Since when no agent matches; None while one does."""
        document = await self._store.get(UNMATCHED_SOURCES, id)
        return decode(document.body, UnmatchedSource).since if document is not None else None

    def _plan_unmatched(self, instance: SourceInstance) -> Sequence[Write]:
        now = self._clock.now()
        insert = Insert(UNMATCHED_SOURCES, instance.key, new_id().hex, UnmatchedSource(id=instance.id, since=now), now)
        return [insert, self._event("unmatched", instance, f"no agent matches: needs {needs_told(instance)}")]

    def _plan_matched(self, id: UUID, instance: SourceInstance | None) -> Sequence[Write]:
        delete = Delete(UNMATCHED_SOURCES, id, self._clock.now())
        told = [self._event("matched", instance, f"an agent matches: {needs_told(instance)}")] if instance else []
        return [delete, *told]

    async def _commit(self, writes: Sequence[Write]) -> None:
        try:
            await self._store.commit(writes)
        except (NameTaken, NotFound, Stale):
            return  # another replica was quicker

    def _event(self, act: str, instance: SourceInstance, message: str) -> Append:
        log.info("event source coverage changed", source=instance.name, message=message)
        after = SourceCoverageEvent(message=message)
        now = self._clock.now()
        return audit(act, INSTANCES.name, instance.key, actor=SYSTEM, at=now, subject=instance.name, after=after)


def needs_told(instance: SourceInstance) -> str:
    """The requirements in words."""
    return ", ".join(f"{each.identifier}={each.value}" for each in instance.requirements) or "any agent"


def _matched(instance: SourceInstance, agents: Sequence[KnownAgent]) -> bool:
    return any(satisfies(agent.capabilities, instance.requirements) for agent in agents)
