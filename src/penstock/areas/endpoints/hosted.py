"""Where endpoints answer now, for those that send requests there."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.endpoints.stored import ENDPOINT_STATES, ENDPOINTS
from penstock.protocol.status import EndpointStatusEnum2
from penstock.resource.assignment_states import AgentState
from penstock.resource.mirror import Mirror
from penstock.resource.ports.agents import AgentDirectory
from penstock.store.store import Store


class EndpointPlaces:
    """Reads what differs from when it was last asked."""

    def __init__(self, store: Store, agents: AgentDirectory) -> None:
        self._store = store
        self._agents = agents
        self._routes = Mirror(store, ENDPOINTS, lambda endpoint: endpoint.route)
        self._ready = Mirror(store, ENDPOINT_STATES, _ready_on)

    async def has(self, route: str) -> bool:
        """See HostedEndpoints."""
        return await self._store.find(ENDPOINTS, "route", route) is not None

    async def ready(self) -> Mapping[str, Sequence[str]]:
        """See HostedEndpoints."""
        agents = await self._agents.agents(fresh=True)
        addresses = {agent.id: agent.base_address for agent in agents if agent.works and agent.online}
        routes, states = await self._routes.current(), await self._ready.current()
        found: dict[str, list[str]] = {}
        for ready in states.values():
            if ready is None or (route := routes.get(ready[0])) is None:
                continue
            if (address := addresses.get(ready[1])) is not None:
                found.setdefault(route, []).append(address)
        return {route: sorted(set(places)) for route, places in found.items()}


def _ready_on(state: AgentState) -> tuple[UUID, UUID] | None:
    """The endpoint and the agent, when it is ready there."""
    ready = state.status.get("Status") == EndpointStatusEnum2.READY
    return (state.item_id, state.agent_id) if ready else None
