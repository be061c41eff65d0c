"""Operations on the OpenAPI documents of endpoints."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.endpoints.openapi_model import OpenApiOperation
from penstock.areas.endpoints.overview import EndpointOverview
from penstock.areas.endpoints.service import EndpointService
from penstock.kernel.actor import Role
from penstock.kernel.errors import NotFound
from penstock.resource.answer import File
from penstock.resource.operation import operation


class SchemaOperations:
    """What endpoints can do, by their own word."""

    def __init__(self, overview: EndpointOverview, endpoints: EndpointService) -> None:
        self._overview = overview
        self._endpoints = endpoints

    @operation("GET", "/schema/endpoint/schema/{endpointId}", Role.READER)
    async def schema(self, endpoint_id: UUID, external_host_name: bool) -> str:
        """Get the OpenAPI document of an endpoint, the one seen last.

        externalHostName: its servers are the BaseAddress of each agent with the endpoint's Route; otherwise they are
        as the API gives them. 404 when no agent has seen a document yet.
        """
        return await self._overview.schema(await self._endpoints.get(endpoint_id), external=external_host_name)

    @operation("GET", "/schema/endpoint/schema/{endpointId}/download", Role.READER)
    async def download(self, endpoint_id: UUID) -> File:
        """Download the OpenAPI document of an endpoint, its servers being the agents' addresses."""
        endpoint = await self._endpoints.get(endpoint_id)
        text = await self._overview.schema(endpoint, external=True)
        return File(text.encode(), "application/json", f"{endpoint.name}.openapi.json")

    @operation("GET", "/schema/endpoint/operations/{endpointId}", Role.READER)
    async def operations(self, endpoint_id: UUID) -> Sequence[OpenApiOperation]:
        """List the operations in the OpenAPI document of an endpoint.

        An operation without an operationId is called by its method and path. The fields of bodies are listed through
        the objects in them, eight levels deep.
        """
        return await self._overview.operations(endpoint_id)

    @operation("GET", "/schema/endpoint/operations/{endpointId}/details", Role.READER)
    async def details(self, endpoint_id: UUID, operation_id: str) -> OpenApiOperation:
        """Get one operation of an endpoint."""
        for found in await self._overview.operations(endpoint_id):
            if found.operation_id == operation_id:
                return found
        raise NotFound.of("operation", operation_id)
