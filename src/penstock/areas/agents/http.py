"""Operations on agents."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.agents.configuration import AgentConfigurations
from penstock.areas.agents.model import (
    Agent,
    AgentFilter,
    AgentStatusHistoryItem,
    AgentValidationDto,
    PendingAgentRegistration,
    PendingAgentRegistrationDto,
)
from penstock.areas.agents.registration import Registrations
from penstock.areas.agents.service import AgentService
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import Forbidden
from penstock.kernel.wire import encode
from penstock.protocol.registration import AgentRegistrationData, AgentRegistrationDto
from penstock.resource.answer import Encoded, File
from penstock.resource.call import Call
from penstock.resource.operation import operation
from penstock.resource.page import PageSize
from penstock.resource.parameter import Body, Filter, IfMatch


class RegistrationOperations:
    """How agents become known."""

    def __init__(self, registrations: Registrations, configurations: AgentConfigurations) -> None:
        self._registrations = registrations
        self._configurations = configurations

    @operation("POST", "/agent/register")
    async def register(self, data: Body[AgentRegistrationData], call: Call) -> AgentRegistrationDto:
        """Register an agent with the single-use token of its pending registration.

        The answer's ValidationToken is the agent's credential from now on (`Authorization: Bearer`); it is shown
        only here. A token that is wrong, spent or expired answers 401; a Name that another agent has answers 409
        and leaves the token unspent. Without a Name the agent is called after its id.
        """
        return await self._registrations.register(data, _address(call))

    @operation("POST", "/agent/create", Role.ADMIN)
    async def create(self, key: Body[str | None], actor: Actor, call: Call) -> PendingAgentRegistrationDto:
        """Create a pending registration; the key is the name of the agent's pool.

        The Token in the answer registers one agent, once, within 24 hours. It is shown only here.
        """
        return await self._registrations.create(key, actor, _address(call))

    @operation("POST", "/agents/create", Role.ADMIN)
    async def create_in_pool(
        self, pool_name: Body[str | None], actor: Actor, call: Call
    ) -> PendingAgentRegistrationDto:
        """Create a pending registration for an agent of the pool.

        The Token in the answer registers one agent, once, within 24 hours. It is shown only here.
        """
        return await self._registrations.create(pool_name, actor, _address(call))

    @operation("POST", "/agent/register/validate", Role.AGENT, Role.ADMIN)
    async def validate(self, data: Body[AgentValidationDto], actor: Actor) -> bool:
        """Tell whether Id and ValidationToken belong together.

        A yes is recorded with RemoteAddress in the entity event store. An agent may only ask about its own Id.
        """
        if actor.agent_id is not None and actor.agent_id != data.id:
            raise Forbidden("an agent may only use its own id")
        return await self._registrations.validate(data, actor)

    @operation("GET", "/agent/configuration", Role.AGENT)
    async def configuration(self, actor: Actor) -> str:
        """Get what the calling agent needs to run.

        The string holds a JSON document: the agent's id and name, addresses of the bus, a bus credential that
        reaches only this agent's subjects and expires at BusExpires, the key that verifies the servers' answers,
        and the intervals of pings and resyncs in seconds. Every call makes a new bus credential.
        """
        if actor.agent_id is None:
            raise Forbidden("only an agent has a configuration")
        return encode(await self._configurations.of(actor.agent_id)).decode()

    @operation("GET", "/agents/pending", Role.READER)
    async def pending(self) -> Encoded[list[PendingAgentRegistration]]:
        """List the pending registrations that are neither used nor expired, newest first."""
        return await self._registrations.pending()

    @operation("DELETE", "/agents/pending/{id}", Role.ADMIN)
    async def discard(self, id: UUID, actor: Actor) -> File:
        """Delete a pending registration; its token no longer holds."""
        await self._registrations.discard(id, actor)
        return File()


class AgentOperations:
    """Agents and their history."""

    def __init__(self, service: AgentService) -> None:
        self._service = service

    @operation("GET", "/agents", Role.READER)
    async def list(self, wanted: Filter[AgentFilter]) -> Sequence[Agent]:
        """List agents, newest first, of any status or of those given.

        Status: 0 Unknown, 1 Online, 2 Offline (three pings missed), 3 Pending (registered, not heard of yet),
        4 Deprecated. LastSeen is when the agent was last heard.
        """
        return await self._service.list(wanted)

    @operation("PUT", "/agents", Role.ADMIN)
    async def update(self, agent: Body[Agent], actor: Actor, if_match: IfMatch) -> Agent:
        """Change an agent.

        An operator's to change are Name (unique among agents that are not deprecated), PoolName, BaseAddress, and
        the capabilities of type Configured (1): those that the agent does not report itself are set to the ones
        given, and marked IsCustom. A field that is null or left out stays. Everything else is the agent's own to
        say, and passed over here, so that an agent as read can be sent back.
        """
        return await self._service.update(agent, actor, if_match)

    @operation("GET", "/agents/{agentId}", Role.READER)
    async def get(self, agent_id: UUID) -> Agent:
        """Get an agent."""
        return await self._service.get(agent_id)

    @operation("GET", "/agents/{agentId}/history", Role.READER)
    async def history(self, agent_id: UUID, limit: PageSize) -> Encoded[Sequence[AgentStatusHistoryItem]]:
        """List an agent's signs of life, newest first.

        One is kept whenever it changed the agent's status, capabilities or build, and at least every five minutes
        while the agent is heard; for 30 days.
        """
        return await self._service.history(agent_id, limit)

    @operation("GET", "/agents/{agentId}/history/{id}", Role.READER)
    async def history_item(self, agent_id: UUID, id: UUID) -> AgentStatusHistoryItem:
        """Get one of an agent's signs of life."""
        return await self._service.history_item(agent_id, id)

    @operation("POST", "/agents/{id}/deprecate", Role.ADMIN)
    async def deprecate(self, id: UUID, actor: Actor) -> Agent:
        """Deprecate an agent: it keeps its record and gets no work and no configuration.

        Its name is free for another agent. Setting another status gives it work again.
        """
        return await self._service.deprecate(id, actor)

    @operation("PUT", "/agents/{agentId}/status", Role.ADMIN)
    async def set_status(self, agent_id: UUID, status_enum: int, actor: Actor) -> Agent:
        """Set an agent's status.

        Deprecated (4) holds until it is set otherwise. Any other holds until the agent is next heard, which makes
        it Online, or missed, which makes an Online one Offline.
        """
        return await self._service.set_status(agent_id, status_enum, actor)


def _address(call: Call) -> str:
    """Where the caller reached the server."""
    host = call.headers.get("host", "")
    return f"{call.scheme}://{host}" if host else ""
