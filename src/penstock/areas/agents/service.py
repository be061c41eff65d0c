"""Agents as operators see and change them."""

from collections.abc import Callable, Sequence
from uuid import UUID

import msgspec

from penstock.areas.agents.capabilities import assigned, same
from penstock.areas.agents.model import (
    AGENTS,
    HISTORY,
    Agent,
    AgentFilter,
    AgentStatusEnum,
    AgentStatusHistoryItem,
)
from penstock.areas.agents.naming import check_agent_name
from penstock.areas.agents.roster import Roster
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store, Where, decode


class AgentService:
    """Reads and changes of agents; each change is audited and told to the other parts."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, roster: Roster) -> None:
        self._store = store
        self._clock = clock
        self._roster = roster
        self._agents = Resource(AGENTS, store, changes, clock, kind="agent")

    async def list(self, wanted: AgentFilter) -> list[Agent]:
        """Newest first."""
        where = [Where("status", "in", wanted.status)] if wanted.status else []
        return [self._roster.seen(agent) for agent in await self._agents.decoded(where)]

    async def get(self, id: UUID) -> Agent:
        """Raises NotFound."""
        return self._roster.seen(await self._agents.get(id))

    async def update(self, body: Agent, actor: Actor, if_match: str | None = None) -> Agent:
        """Changes what is an operator's to change. Raises Invalid, NotFound, Stale, NameTaken.

        Name, PoolName and BaseAddress, when given, and the Configured capabilities; what else differs is passed over.
        """
        if body.id is None:
            raise Invalid.one("Id", "is required")
        name = check_agent_name("Name", body.name) if body.name is not None else None

        def edit(agent: Agent) -> Agent:
            before = agent.capabilities or []
            capabilities = before if body.capabilities is None else assigned(before, body.capabilities)
            able = same(before, capabilities)
            return msgspec.structs.replace(
                agent,
                e_tag=body.e_tag or agent.e_tag,
                name=name or agent.name,
                pool_name=body.pool_name if body.pool_name is not None else agent.pool_name,
                base_address=body.base_address if body.base_address is not None else agent.base_address,
                capabilities=before if able else capabilities,
                last_update_date=agent.last_update_date if able else self._clock.now(),
            )

        return await self._change(body.id, edit, actor, if_match)

    async def set_status(self, id: UUID, status: int, actor: Actor) -> Agent:
        """Sets the status by its number. Raises Invalid for one outside the enumeration, NotFound, NameTaken.

        Deprecated holds until it is set otherwise; any other holds until the agent is next heard or missed.
        """
        try:
            wanted = AgentStatusEnum(status)
        except ValueError:
            allowed = ", ".join(f"{each.value} ({each.name.capitalize()})" for each in AgentStatusEnum)
            raise Invalid([FieldError("statusEnum", f"must be one of {allowed}")]) from None

        def edit(agent: Agent) -> Agent:
            if agent.current_status_enum is wanted:
                return agent
            works_again = not agent.works
            works_no_longer = wanted is AgentStatusEnum.DEPRECATED
            return msgspec.structs.replace(
                agent,
                current_status_enum=wanted,
                current_status_message=f"{wanted.name.lower()}, set by {actor.name}",
                last_update_date=self._clock.now() if works_again or works_no_longer else agent.last_update_date,
            )

        return await self._change(id, edit, actor)

    async def deprecate(self, id: UUID, actor: Actor) -> Agent:
        """Keeps the agent's record and gives it no work any more. Raises NotFound."""
        return await self.set_status(id, AgentStatusEnum.DEPRECATED, actor)

    async def history(self, id: UUID, limit: int) -> Encoded[Sequence[AgentStatusHistoryItem]]:
        """The latest signs of life kept, newest first. Raises NotFound for an unknown agent."""
        await self._agents.get(id)
        return Encoded.array(await self._store.entries(HISTORY, [Where("agent", "=", str(id))], limit=limit))

    async def history_item(self, id: UUID, item: UUID) -> AgentStatusHistoryItem:
        """Raises NotFound, also for an item of another agent."""
        body = await self._store.entry(HISTORY, str(item))
        found = decode(body, HISTORY.type) if body else None
        if found is None or found.agent_id != id:
            raise NotFound.of("history item", item)
        return found

    async def _change(
        self, id: UUID, edit: Callable[[Agent], Agent], actor: Actor, if_match: str | None = None
    ) -> Agent:
        return self._roster.seen(await self._agents.change(id, edit, actor, if_match))
