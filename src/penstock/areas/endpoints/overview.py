"""How endpoints stand on agents, and what they show there."""

from collections.abc import Sequence
from uuid import UUID

from penstock.apihost.standing import new_standing
from penstock.areas.endpoints.assignments import EndpointAssignments
from penstock.areas.endpoints.model import AgentEndpointSchema, AgentEndpointStatus, IntegrationEndpointAgent
from penstock.areas.endpoints.openapi import OpenApiDocument
from penstock.areas.endpoints.openapi_model import OpenApiOperation
from penstock.areas.endpoints.service import EndpointService
from penstock.areas.endpoints.states import EndpointStates
from penstock.areas.endpoints.stored import StoredEndpoint
from penstock.kernel.errors import NotFound
from penstock.kernel.ids import derived_id
from penstock.protocol.endpoint import EndpointItem, EndpointStanding, number_of
from penstock.resource.matching import Matching
from penstock.resource.ports.agents import KnownAgent


class EndpointOverview:
    """Reads of states, joined with agents."""

    def __init__(
        self,
        endpoints: EndpointService,
        assignments: EndpointAssignments,
        states: EndpointStates,
        matching: Matching,
    ) -> None:
        self._endpoints = endpoints
        self._assignments = assignments
        self._states = states
        self._matching = matching

    async def reported(self, id: UUID) -> Sequence[AgentEndpointStatus]:
        """As every agent last reported, those that no longer have it included. Raises NotFound."""
        endpoint = await self._endpoints.get(id)
        found = await self._states.of_item(id)
        return [_status(endpoint, agent, standing) for agent, standing in found.items()]

    async def current(self, id: UUID) -> Sequence[AgentEndpointStatus]:
        """On every agent that is to have it now; New where it has not reported. Raises NotFound."""
        endpoint = await self._endpoints.get(id)
        found = await self._states.of_item(id)
        fresh = new_standing(endpoint.update_date or endpoint.created_date)
        agents = await self._assignments.agents_of(endpoint)
        return [_status(endpoint, agent.id, found.get(agent.id) or fresh) for agent in agents]

    async def of_agent(self, agent_id: UUID) -> Sequence[IntegrationEndpointAgent]:
        """The endpoints of an agent, secrets masked. Raises NotFound for an unknown agent."""
        await self._agent(agent_id)
        return [await self._on(agent_id, endpoint) for endpoint in await self._assignments.of(agent_id)]

    async def on_agent(self, id: UUID, agent_id: UUID) -> IntegrationEndpointAgent:
        """An endpoint on an agent. Raises NotFound, also for one that the agent is not to have."""
        await self._agent(agent_id)
        endpoint = await self._endpoints.get(id)
        if endpoint.key not in {each.key for each in await self._assignments.of(agent_id)}:
            raise NotFound(f"the agent '{agent_id}' does not have the endpoint '{endpoint.name}'")
        return await self._on(agent_id, endpoint)

    async def told(self, agent_id: UUID) -> Sequence[IntegrationEndpointAgent]:
        """What an agent is told of its endpoints, with the secrets."""
        await self._assignments.refresh()
        found = [await self._told(agent_id, endpoint) for endpoint in await self._assignments.of(agent_id)]
        return [each for each in found if each is not None]

    async def told_one(self, agent_id: UUID, id: UUID) -> IntegrationEndpointAgent | None:
        """None for an endpoint that is not the agent's. Raises NotFound."""
        await self._endpoints.get(id)
        return next((each for each in await self.told(agent_id) if each.endpoint_id == id), None)

    async def schemas(self, id: UUID) -> Sequence[AgentEndpointSchema]:
        """The OpenAPI documents that agents have seen. Raises NotFound."""
        await self._endpoints.get(id)
        found = await self._states.of_item(id)
        return [
            AgentEndpointSchema(
                id=derived_id(standing.last_status_update, agent, id, "schema"),
                created_date=standing.last_status_update,
                agent_id=agent,
                endpoint_id=id,
                schema=standing.schema,
            )
            for agent, standing in found.items()
            if standing.schema is not None
        ]

    async def schema(self, endpoint: StoredEndpoint, *, external: bool) -> str:
        """The document seen last. external: its servers are the agents' addresses, rather than what it says itself.

        Raises NotFound when no agent has seen one.
        """
        seen = [each for each in (await self._states.of_item(endpoint.key)).values() if each.schema is not None]
        if not seen:
            raise NotFound(f"no agent has seen an OpenAPI document of the endpoint '{endpoint.name}' yet")
        text = max(seen, key=lambda each: each.last_status_update).schema or ""
        addresses = await self._addresses(endpoint) if external else []
        return OpenApiDocument(text).with_servers(addresses) if addresses else text

    async def document(self, route: str) -> str | None:
        """See EndpointDocuments."""
        endpoint = await self._endpoints.at_route(route)
        try:
            return await self.schema(endpoint, external=False) if endpoint is not None else None
        except NotFound:
            return None

    async def operations(self, id: UUID) -> list[OpenApiOperation]:
        """Raises NotFound."""
        endpoint = await self._endpoints.get(id)
        return OpenApiDocument(await self.schema(endpoint, external=False)).operations(endpoint.route)

    async def _addresses(self, endpoint: StoredEndpoint) -> list[str]:
        """Where the endpoint is reached, on every agent that has it."""
        agents = await self._assignments.agents_of(endpoint)
        return [f"{agent.base_address.rstrip('/')}{endpoint.route}" for agent in agents if agent.base_address]

    async def _on(self, agent_id: UUID, endpoint: StoredEndpoint) -> IntegrationEndpointAgent:
        standing = (await self._states.of_item(endpoint.key)).get(agent_id)
        return IntegrationEndpointAgent(
            endpoint_id=endpoint.key,
            name=endpoint.name,
            route=endpoint.route,
            api_name=endpoint.api_name,
            api_version=endpoint.api_version,
            configuration=endpoint.configuration,
            endpoint_status=number_of(standing.status) if standing is not None else None,
        )

    async def _told(self, agent_id: UUID, endpoint: StoredEndpoint) -> IntegrationEndpointAgent | None:
        body = await self._assignments.body(endpoint)
        if body is None or not isinstance(body.content, EndpointItem):
            return None
        shown = await self._on(agent_id, endpoint)
        shown.configuration = body.content.configuration
        return shown

    async def _agent(self, id: UUID) -> KnownAgent:
        for agent in (await self._matching.matcher()).known:
            if agent.id == id:
                return agent
        raise NotFound.of("agent", id)


def _status(endpoint: StoredEndpoint, agent: UUID, standing: EndpointStanding) -> AgentEndpointStatus:
    first = standing.moves[0].log_time if standing.moves else standing.last_status_update
    return AgentEndpointStatus(
        id=derived_id(first, agent, endpoint.key),
        created_date=first,
        update_date=standing.last_status_update,
        agent_id=agent,
        endpoint_id=endpoint.key,
        route=standing.route or endpoint.route,
        configuration=standing.configuration or endpoint.configuration,
        current_status=number_of(standing.status),
        previous_status=number_of(standing.previous_status),
        last_status_update=standing.last_status_update,
        status_updates=standing.moves,
    )
