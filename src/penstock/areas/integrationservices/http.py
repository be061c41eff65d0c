"""Operations on integration services."""

from collections.abc import Sequence

from penstock.areas.integrationservices.model import (
    GeneratedServiceFlow,
    IntegrationService,
    IntegrationServiceDto,
    ServiceFlow,
)
from penstock.areas.integrationservices.service import IntegrationServices
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import MIB, operation
from penstock.resource.parameter import Body, IfMatch

_LIMIT = 16 * MIB


class IntegrationServiceOperations:
    """Templates that flows are generated from."""

    def __init__(self, services: IntegrationServices) -> None:
        self._services = services

    @operation("GET", "/integrations/services", Role.READER)
    async def list(self) -> Sequence[IntegrationServiceDto]:
        """List the integration services, newest first."""
        return await self._services.all()

    @operation("GET", "/integrations/services/{serviceName}", Role.READER)
    async def get(self, service_name: str) -> Encoded[IntegrationServiceDto]:
        """Get an integration service. Its name is compared without case."""
        return await self._services.read(service_name)

    @operation("POST", "/integrations/services", Role.OPERATOR, limit=_LIMIT)
    async def create(self, service: Body[IntegrationService], actor: Actor) -> IntegrationService:
        """Make an integration service; 409 when there is one of that name.

        The Specification is checked as a flow. Each `{{NAME}}` in it must be a property or a variable. Variables, once
        there are any, must fit the properties: their types, and those that are required without a default.
        """
        return await self._services.create(service, actor)

    @operation("PUT", "/integrations/services", Role.OPERATOR, limit=_LIMIT)
    async def save(self, service: Body[IntegrationService], actor: Actor, if_match: IfMatch) -> IntegrationService:
        """Make an integration service, or replace the one of the same name."""
        return await self._services.save(service, actor, if_match)

    @operation("DELETE", "/integrations/services", Role.OPERATOR)
    async def remove(self, service_name: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove an integration service. Flows that were generated from it stay."""
        await self._services.remove(service_name, actor, if_match)
        return File()

    @operation("POST", "/integrations/services/{serviceName}/variables", Role.OPERATOR)
    async def set_variables(self, service_name: str, variables: Body[str], actor: Actor) -> IntegrationService:
        """Set variables of an integration service: a string that holds a JSON object.

        Those that it does not name stay; null removes one. They must fit the properties.
        """
        return await self._services.set_variables(service_name, variables.encode(), actor)

    @operation("POST", "/integrations/services/{serviceName}/flows", Role.OPERATOR, beyond=True)
    async def generate(self, service_name: str, flow: Body[ServiceFlow], actor: Actor) -> GeneratedServiceFlow:
        """Generate a flow: save the Specification with the values of the properties as the flow's own variables.

        A new flow is stopped; one of that name gets its next version. It has the label `service:<name>`.
        """
        return await self._services.generate(service_name, flow, actor)
