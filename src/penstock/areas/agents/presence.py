"""Who is there: signs of life taken in, and agents that fell silent told apart.

Every replica hears every ping and remembers when; one of them, by queue group, stores what the ping changed.
So nothing is written for a ping that says nothing new, and any replica may find that an agent is silent.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import structlog

from penstock.areas.agents.capabilities import reported, same
from penstock.areas.agents.credentials import agent_actor
from penstock.areas.agents.model import AGENTS, HISTORY, Agent, AgentStatusEnum, AgentStatusHistoryItem
from penstock.areas.agents.policy import AgentPolicy
from penstock.areas.agents.roster import Roster
from penstock.bus.bus import Bus
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Stale, Unavailable
from penstock.kernel.ids import derived_id, new_id
from penstock.protocol.capability import AgentCapability
from penstock.protocol.status import AgentEndpointManagerStatusEnum, AgentStatusPing
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Append, Replace

log = structlog.get_logger(__name__)

_TRIES = 5


class Presence:
    """Keeps CurrentStatusEnum, LastSeen and what else agents tell about themselves."""

    def __init__(
        self, store: Store, bus: Bus, changes: Changes, clock: Clock, roster: Roster, policy: AgentPolicy
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._roster = roster
        self._policy = policy
        self._agents = Resource(AGENTS, store, changes, clock, kind="agent")
        self._kept: dict[UUID, int] = {}
        self._listening_since: datetime | None = None

    async def take(self, ping: AgentStatusPing) -> None:
        """Stores what a ping changed, and the ping itself now and then."""
        for _ in range(_TRIES):
            try:
                agent = await self._agents.get(ping.agent_id)
                if _after(agent, ping, agent.last_seen or agent.created_date) == agent:
                    await self._keep(agent, ping)
                else:
                    await self._store_change(agent, ping)
            except Stale:
                continue  # changed meanwhile: compare with that
            except NotFound:
                log.warning("ping of an unknown agent", agent=str(ping.agent_id))
            return

    async def sweep(self) -> None:
        """Marks online agents that have been silent too long as offline; any number of replicas may do so."""
        asked = self._clock.now()
        if not await self._bus_answers() or self._clock.now() - asked > self._policy.silence / 2:
            self._listening_since = None  # what was not heard meanwhile says nothing about the agents
            return
        self._listening_since = self._listening_since or asked
        for agent in self._silent(await self._roster.all(), asked, self._listening_since):
            await self._mark_offline(agent)

    def _silent(self, agents: Mapping[UUID, Agent], now: datetime, listening_since: datetime) -> Sequence[Agent]:
        online = [agent for agent in agents.values() if agent.current_status_enum is AgentStatusEnum.ONLINE]
        last = [max(self._roster.seen(agent).last_seen or agent.created_date, listening_since) for agent in online]
        return [agent for agent, heard in zip(online, last, strict=True) if now - heard > self._policy.silence]

    async def _bus_answers(self) -> bool:
        """A connection may look open long after its other end is gone, so only an answer tells."""
        try:
            await self._bus.api("INFO", None, msgspec.Raw, timeout=self._policy.silence.total_seconds())
        except Unavailable:
            return False
        return True

    async def _store_change(self, before: Agent, ping: AgentStatusPing) -> None:
        now = self._clock.now()
        after = _after(before, ping, now)
        stored, writes = self._agents.plan_replace(after, before, agent_actor(before.key))
        await self._agents.commit([*writes, self._history(ping, new_id(), now)], stored)
        if before.current_status_enum is not after.current_status_enum:
            log.info("agent is online", agent=before.name)

    async def _keep(self, agent: Agent, ping: AgentStatusPing) -> None:
        """Keeps one ping per interval, whichever replica takes it, and LastSeen with it."""
        now = self._clock.now()
        interval = int(now.timestamp() // self._policy.history.total_seconds())
        if self._kept.get(agent.key) == interval:
            return
        begin = datetime.fromtimestamp(interval * self._policy.history.total_seconds(), UTC)
        id = derived_id(begin, agent.key, interval)
        seen = msgspec.structs.replace(agent, last_seen=now)
        e_tag = agent.e_tag or ""
        # The same ETag: nothing that an operator could have based a change on is different.
        touch = Replace(AGENTS, agent.key, e_tag, seen, now, expected=e_tag, keep_sealed=True)
        await self._store.commit([touch, self._history(ping, id, now)])
        self._kept[agent.key] = interval

    async def _mark_offline(self, agent: Agent) -> None:
        silent = self._policy.silence.total_seconds()
        after = msgspec.structs.replace(
            self._roster.seen(agent),
            current_status_enum=AgentStatusEnum.OFFLINE,
            current_status_message=f"not heard for {silent:g} seconds",
        )
        try:
            await self._agents.replace(after, agent, SYSTEM)
        except (NotFound, Stale):
            return  # another replica did, or the agent is back
        log.warning("agent is offline", agent=agent.name)

    def _history(self, ping: AgentStatusPing, id: UUID, now: datetime) -> Append:
        item = AgentStatusHistoryItem(id=id, agent_id=ping.agent_id, status_update=ping)
        return Append(HISTORY, [item.created(agent_actor(ping.agent_id), now)])


def _after(agent: Agent, ping: AgentStatusPing, now: datetime) -> Agent:
    """The agent as the ping says. What the ping leaves out stays."""
    before: Sequence[AgentCapability] = agent.capabilities or []
    capabilities = before if ping.capabilities is None else reported(before, ping.capabilities)
    unchanged = same(before, capabilities)
    online = agent.works and agent.current_status_enum is not AgentStatusEnum.ONLINE
    return msgspec.structs.replace(
        agent,
        capabilities=agent.capabilities if unchanged else capabilities,
        current_status_enum=AgentStatusEnum.ONLINE if online else agent.current_status_enum,
        current_status_message="online" if online else agent.current_status_message,
        integration_status=AgentEndpointManagerStatusEnum[ping.system_status.name],
        last_seen=now,
        # What an operator has set stays.
        base_address=agent.base_address or ping.base_address,
        last_build_version=ping.build_version or agent.last_build_version,
        last_build_date=ping.build_date or agent.last_build_date,
        last_update_date=agent.last_update_date if unchanged else now,
    )
