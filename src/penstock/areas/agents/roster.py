"""All agents, in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.areas.agents.model import AGENTS, Agent, AgentStatusEnum
from penstock.resource.mirror import Mirror
from penstock.resource.ports.agents import KnownAgent
from penstock.store.store import Store

_AGE_SECONDS = 1.0


class Roster:
    """The stored agents and when each was last heard by this replica, which hears all of them."""

    def __init__(self, store: Store) -> None:
        self._mirror = Mirror(store, AGENTS, lambda agent: agent)
        self._heard: dict[UUID, datetime] = {}
        self._view: Mapping[UUID, Agent] = {}
        self._known: Sequence[KnownAgent] = ()

    async def all(self, fresh: bool = False) -> Mapping[UUID, Agent]:
        """By id, as stored at most a second ago, or now when `fresh`."""
        return await self._mirror.current(0.0 if fresh else _AGE_SECONDS)

    async def agents(self, fresh: bool = False) -> Sequence[KnownAgent]:
        """For the other areas; the same object as long as no agent changed."""
        view = await self.all(fresh)
        if view is not self._view:
            self._view, self._known = view, [_known(agent) for agent in view.values()]
        return self._known

    def hear(self, id: UUID, at: datetime) -> None:
        """Notes a sign of life."""
        self._heard[id] = at

    def seen(self, agent: Agent) -> Agent:
        """The agent with its latest sign of life."""
        heard = self._heard.get(agent.key)
        if heard is None or (agent.last_seen is not None and heard <= agent.last_seen):
            return agent
        return msgspec.structs.replace(agent, last_seen=heard)


def _known(agent: Agent) -> KnownAgent:
    return KnownAgent(
        id=agent.key,
        name=agent.name or "",
        capabilities=agent.capabilities or (),
        works=agent.works,
        online=agent.current_status_enum is AgentStatusEnum.ONLINE,
        since=agent.last_update_date or agent.created_date,
        base_address=agent.base_address or None,
    )
