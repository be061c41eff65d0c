"""Operations on how endpoints stand on agents, and what agents ask for over HTTP."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.endpoints.model import AgentEndpointSchema, AgentEndpointStatus, IntegrationEndpointAgent
from penstock.areas.endpoints.overview import EndpointOverview
from penstock.areas.endpoints.service import EndpointService
from penstock.kernel.actor import Role
from penstock.resource.operation import operation


class AgentEndpointOperations:
    """Endpoints on agents."""

    def __init__(self, overview: EndpointOverview, endpoints: EndpointService) -> None:
        self._overview = overview
        self._endpoints = endpoints

    @operation("GET", "/agent/{id}/endpoints/{endpointId}", Role.AGENT, own="id", bodiless=frozenset({204}))
    async def own(self, id: UUID, endpoint_id: UUID) -> IntegrationEndpointAgent | None:
        """Get one of the calling agent's endpoints, with the secrets in its configuration.

        204 when the endpoint exists and is not this agent's; 404 when it does not exist.
        """
        return await self._overview.told_one(id, endpoint_id)

    @operation("GET", "/agent/endpoints", Role.AGENT, own="agent_id")
    async def all_own(self, agent_id: UUID) -> Sequence[IntegrationEndpointAgent]:
        """List the calling agent's endpoints, with the secrets in their configurations."""
        return await self._overview.told(agent_id)

    @operation("GET", "/agent/endpoint/{agentId}", Role.READER)
    async def of_agent(self, agent_id: UUID) -> Sequence[IntegrationEndpointAgent]:
        """List the endpoints of an agent; secrets in their configurations are masked."""
        return await self._overview.of_agent(agent_id)

    @operation("GET", "/agent/endpoint/{endpointId}/agent/{agentId}", Role.READER)
    async def on_agent(self, endpoint_id: UUID, agent_id: UUID) -> IntegrationEndpointAgent:
        """Get an endpoint as it stands on an agent; 404 when the agent is not to have it."""
        return await self._overview.on_agent(endpoint_id, agent_id)

    @operation("GET", "/agent/endpoint/{endpointId}/statusUpdates", Role.READER)
    async def status_updates(self, endpoint_id: UUID) -> Sequence[AgentEndpointStatus]:
        """List how an endpoint stands on every agent that has reported it, with its latest 100 moves.

        Agents that are no longer to have it are among them until they have ended it.
        """
        return await self._overview.reported(endpoint_id)

    @operation("GET", "/agent/endpoint/{endpointId}/agents/currentStatus", Role.READER)
    async def current_status(self, endpoint_id: UUID) -> Sequence[AgentEndpointStatus]:
        """List how an endpoint stands on each agent that is to have it now; New where it has not reported yet.

        The list is empty when no agent meets the requirements.
        """
        return await self._overview.current(endpoint_id)

    @operation("GET", "/agents/integrations/schemas/{endpointId}", Role.READER)
    async def schemas(self, endpoint_id: UUID) -> Sequence[AgentEndpointSchema]:
        """List the OpenAPI documents that an endpoint shows, one for each agent that has seen it."""
        return await self._overview.schemas(endpoint_id)

    @operation("GET", "/agents/integrations/schemas/generate", Role.READER)
    async def generated(self, endpoint_name: str) -> str:
        """Get one OpenAPI document for an endpoint on all its agents, whose addresses are the document's servers.

        404 when no agent has seen a document yet.
        """
        return await self._overview.schema(await self._endpoints.named(endpoint_name), external=True)
