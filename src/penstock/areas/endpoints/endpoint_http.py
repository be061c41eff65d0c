"""Operations on endpoints."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.endpoints.documents import as_documents
from penstock.areas.endpoints.model import IntegrationEndpoint
from penstock.areas.endpoints.service import EndpointService, Wanted
from penstock.areas.endpoints.stored import StoredEndpoint
from penstock.areas.endpoints.worker import EndpointNotices
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import Invalid
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class EndpointOperations:
    """Endpoints: APIs hosted by agents."""

    def __init__(self, endpoints: EndpointService, notices: EndpointNotices) -> None:
        self._endpoints = endpoints
        self._notices = notices

    @operation("GET", "/integrations/endpoint/{id}", Role.READER)
    async def get(self, id: UUID) -> IntegrationEndpoint:
        """Get an endpoint; secrets in its configuration are masked."""
        return shown(await self._endpoints.get(id))

    @operation("DELETE", "/integrations/endpoint/{id}", Role.OPERATOR)
    async def delete(self, id: UUID, actor: Actor) -> None:
        """Delete an endpoint. Agents end it."""
        await self._endpoints.remove(id, actor)

    @operation("GET", "/integrations/endpoint", Role.READER)
    async def list(self) -> Sequence[IntegrationEndpoint]:
        """List endpoints, newest first; secrets in their configurations are masked."""
        return [shown(endpoint) for endpoint in await self._endpoints.all()]

    @operation("POST", "/integrations/endpoint", Role.OPERATOR)
    async def create(self, endpoint: Body[IntegrationEndpoint], actor: Actor) -> IntegrationEndpoint:
        """Create an endpoint, which every agent hosts that meets its Requirements.

        Name and Route are unique; taken ones answer 409. ApiName and ApiVersion name an API of a package that is ready
        (`GET /integrations/api`); without ApiVersion it is the one registered last. JsonConfiguration is checked by
        the API's schema; `{{var:NAME}}` in it is replaced on the agent. Requests reach the API at the agent's
        BaseAddress and the Route.
        """
        return shown(await self._endpoints.create(_wanted(endpoint), actor))

    @operation("PUT", "/integrations/endpoint", Role.OPERATOR)
    async def update(self, endpoint: Body[IntegrationEndpoint], actor: Actor, if_match: IfMatch) -> IntegrationEndpoint:
        """Replace the endpoint of this Id; agents begin it anew.

        A masked secret stays as it is, as long as nothing else in JsonConfiguration changes.
        """
        if endpoint.id is None:
            raise Invalid.one("Id", "is required")
        e_tag = if_match or endpoint.e_tag
        return shown(await self._endpoints.replace(endpoint.id, _wanted(endpoint), actor, e_tag))

    @operation("GET", "/integrations/endpoint/configuration", Role.READER)
    async def configuration(self) -> str:
        """Get all endpoints as configuration documents of the kind IntegrationEndpoint, as `PUT /configuration` takes
        them: JSON, one document after another behind lines with three hyphens. Secrets are masked; a mask keeps the
        secret.
        """
        return as_documents(await self._endpoints.all())

    @operation("GET", "/integrations/endpoint/agents/update", Role.OPERATOR)
    async def update_agents(self, actor: Actor) -> File:
        """Have every agent compare its endpoints with what is wanted now, and initialize again those that failed."""
        await self._endpoints.begin_failed_anew(actor)
        await self._notices.tell_all()
        return File()


def shown(endpoint: StoredEndpoint) -> IntegrationEndpoint:
    return IntegrationEndpoint(
        **endpoint.base,
        name=endpoint.name,
        api_name=endpoint.api_name,
        api_version=endpoint.api_version,
        route=endpoint.route,
        json_configuration=endpoint.configuration,
        description=endpoint.description,
        requirements=endpoint.requirements,
    )


def _wanted(endpoint: IntegrationEndpoint) -> Wanted:
    return Wanted(
        id=endpoint.id,
        time_to_live=endpoint.time_to_live,
        name=endpoint.name,
        api_name=endpoint.api_name,
        api_version=endpoint.api_version,
        route=endpoint.route,
        configuration=endpoint.json_configuration,
        description=endpoint.description,
        requirements=endpoint.requirements or (),
    )
