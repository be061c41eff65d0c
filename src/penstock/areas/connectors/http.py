"""Operations on connectors."""

from collections.abc import Sequence

from penstock.areas.connectors.model import OpenApiConnectorRegistryItem
from penstock.areas.connectors.service import ConnectorService
from penstock.kernel.actor import Role
from penstock.resource.operation import operation


class ConnectorOperations:
    """The registry of connectors, which configuration documents of kind OpenApiConnector fill."""

    def __init__(self, service: ConnectorService) -> None:
        self._service = service

    @operation("GET", "/integrations/connectors/openapi", Role.READER)
    async def list(self) -> Sequence[OpenApiConnectorRegistryItem]:
        """List the connectors, newest first."""
        return await self._service.all()
