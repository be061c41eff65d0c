"""The agents' credentials: issued once at registration as ValidationToken, kept as hashes."""

from uuid import UUID

from penstock.areas.agents.model import AGENTS
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import Forbidden, Unauthenticated
from penstock.resource.token import hash_token, new_token, token_matches, token_parts
from penstock.store.store import Store, decode

_PREFIX = "pag_"


class AgentCredentials:
    """Issues and checks them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def issue(self, id: UUID) -> tuple[str, bytes]:
        """A new credential for the agent, and what to seal beside the agent."""
        token = new_token(_PREFIX, id.bytes)
        return token, hash_token(token).encode()

    async def holds(self, id: UUID, token: str) -> bool:
        """Whether the credential is this agent's."""
        hashed = await self._store.sealed(AGENTS, id)
        return hashed is not None and token_matches(token, hashed.decode())

    async def actor(self, credential: str) -> Actor | None:
        """The agent that presents it; None for another kind of credential.

        Raises Unauthenticated when it does not hold, Forbidden when the agent is deprecated.
        """
        parts = token_parts(_PREFIX, credential, 16) if credential.startswith(_PREFIX) else None
        if parts is None:
            return None
        id = UUID(bytes=parts[0])
        document = await self._store.get(AGENTS, id)
        if document is None or not await self.holds(id, credential):
            raise Unauthenticated("the agent's credential does not hold")
        if not decode(document.body, AGENTS.type).works:
            raise Forbidden("the agent is deprecated")
        return agent_actor(id)


def agent_actor(id: UUID) -> Actor:
    """The agent as the one who acts."""
    return Actor(name=str(id), roles=frozenset({Role.AGENT}), agent_id=id)
