"""How agents become known: a pending registration's token is turned, once, into an agent with its own credential."""

from uuid import UUID

from penstock.areas.agents.capabilities import reported
from penstock.areas.agents.credentials import AgentCredentials, agent_actor
from penstock.areas.agents.model import (
    AGENTS,
    PENDING_REGISTRATIONS,
    Agent,
    AgentStatusEnum,
    AgentValidationDto,
    PendingAgentRegistration,
    PendingAgentRegistrationDto,
)
from penstock.areas.agents.naming import check_agent_name
from penstock.areas.agents.policy import AgentPolicy
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NotFound, Stale, Unauthenticated
from penstock.kernel.ids import new_id
from penstock.protocol.registration import AgentRegistrationData, AgentRegistrationDto
from penstock.resource.answer import Encoded
from penstock.resource.audit import audit
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.resource.token import hash_token, new_token, token_matches, token_parts
from penstock.store.store import Store

_PREFIX = "par_"
_LONGEST_POOL = 128


class Registrations:
    """Pending registrations, and the agents that come of them."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, credentials: AgentCredentials, policy: AgentPolicy
    ) -> None:
        self._store = store
        self._clock = clock
        self._credentials = credentials
        self._policy = policy
        self._pending = Resource(PENDING_REGISTRATIONS, store, changes, clock, kind="pending registration", label="id")
        self._agents = Resource(AGENTS, store, changes, clock, kind="agent")

    async def create(self, pool_name: str | None, actor: Actor, address: str = "") -> PendingAgentRegistrationDto:
        """A new pending registration for an agent of the pool. Raises Invalid.

        address: of the server as the caller sees it.
        """
        if pool_name and (len(pool_name) > _LONGEST_POOL or not pool_name.isprintable()):
            raise Invalid.one("", f"a pool name has at most {_LONGEST_POOL} printable characters")
        id, lasts = new_id(), self._policy.registration
        token = new_token(_PREFIX, id.bytes)
        pending = PendingAgentRegistration(
            id=id,
            pool_name=pool_name,
            expires=self._clock.now() + lasts,
            time_to_live=int(lasts.total_seconds()),
        )
        await self._pending.create(pending, actor, hash_token(token).encode())
        return PendingAgentRegistrationDto(id=id, server_baseaddress=self._address(address), token=token)

    async def pending(self) -> Encoded[list[PendingAgentRegistration]]:
        """Those neither used nor expired."""
        return await self._pending.all()

    async def discard(self, id: UUID, actor: Actor) -> None:
        """Raises NotFound."""
        await self._pending.delete(await self._pending.get(id), actor)

    async def register(self, data: AgentRegistrationData, address: str = "") -> AgentRegistrationDto:
        """Turns the token into an agent.

        Raises Unauthenticated for a token that is wrong, spent or expired; Invalid, NameTaken: it is not spent then.
        """
        pending = await self._pending_of(data.token or "")
        id = new_id()
        name = check_agent_name("Name", data.name) if data.name else f"agent-{id.hex[-12:]}"
        token, sealed = self._credentials.issue(id)
        agent = Agent(
            id=id,
            name=name,
            pool_name=pending.pool_name,
            capabilities=reported((), data.initial_capabities or ()),
            current_status_enum=AgentStatusEnum.PENDING,
            current_status_message="registered, not heard of yet",
            base_address=data.initial_base_address,
            last_update_date=self._clock.now(),
        )
        actor = agent_actor(id)
        stored, writes = self._agents.plan_create(agent, actor, sealed)
        try:
            # Of two that use one token at once, the second finds the pending registration gone.
            await self._agents.commit([*self._pending.plan_delete(pending, actor), *writes], stored)
        except (NotFound, Stale):
            raise _refused() from None
        address = self._address(address)
        return AgentRegistrationDto(
            id=id,
            name=name,
            validation_token=token,
            identity_base_address=address,
            configuration_base_address=address,
            server_base_address=address,
        )

    async def validate(self, data: AgentValidationDto, actor: Actor) -> bool:
        """Whether id and token belong together; a yes is recorded with the address."""
        valid = await self._credentials.holds(data.id, data.validation_token or "")
        if valid:
            met = {"RemoteAddress": data.remote_address}
            now = self._clock.now()
            await self._store.commit([audit("validated", AGENTS.name, data.id, actor=actor, at=now, after=met)])
        return valid

    async def _pending_of(self, token: str) -> PendingAgentRegistration:
        parts = token_parts(_PREFIX, token, 16)
        if parts is None:
            raise _refused()
        id = UUID(bytes=parts[0])
        hashed = await self._store.sealed(PENDING_REGISTRATIONS, id)
        if hashed is None or not token_matches(token, hashed.decode()):
            raise _refused()
        try:
            return await self._pending.get(id)
        except NotFound:
            raise _refused() from None

    def _address(self, seen: str) -> str:
        return self._policy.server_address or seen


def _refused() -> Unauthenticated:
    return Unauthenticated("the registration token does not hold")
