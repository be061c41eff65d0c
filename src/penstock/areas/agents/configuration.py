"""What an agent needs to run."""

from uuid import UUID

from penstock.areas.agents.model import AGENTS
from penstock.areas.agents.policy import AgentPolicy
from penstock.bus.credentials import BusKeys
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Forbidden, NotFound
from penstock.protocol.registration import AgentConfiguration
from penstock.protocol.signature import Signer
from penstock.store.store import Store, decode


class AgentConfigurations:
    """Makes an agent's configuration, with a bus credential of its own that reaches only its own subjects."""

    def __init__(self, store: Store, keys: BusKeys, signer: Signer, clock: Clock, policy: AgentPolicy) -> None:
        self._store = store
        self._keys = keys
        self._signer = signer
        self._clock = clock
        self._policy = policy

    async def of(self, id: UUID) -> AgentConfiguration:
        """A configuration with a new bus credential. Raises NotFound, Forbidden for a deprecated agent."""
        document = await self._store.get(AGENTS, id)
        if document is None:
            raise NotFound.of("agent", id)
        agent = decode(document.body, AGENTS.type)
        if not agent.works:
            raise Forbidden("the agent is deprecated")
        expires = self._clock.now() + self._policy.bus_credential
        credential = self._keys.agent_user(id, expires)
        return AgentConfiguration(
            agent_id=id,
            agent_name=agent.name or "",
            bus_servers=list(self._policy.bus_servers),
            bus_jwt=credential.jwt,
            bus_seed=credential.seed,
            bus_expires=expires,
            server_key=self._signer.public_key,
            ping_seconds=self._policy.ping_seconds,
            resync_seconds=self._policy.resync_seconds,
        )
