"""Operations on services."""

from penstock.areas.services.directory import ServiceDirectory
from penstock.areas.services.model import ServiceDto, ServiceSendDto
from penstock.kernel.actor import Role
from penstock.resource.operation import operation
from penstock.resource.parameter import Body


class ServiceHandlers:
    """Services are programs of any language that announce themselves on the bus by NATS' micro protocol."""

    def __init__(self, directory: ServiceDirectory) -> None:
        self._directory = directory

    @operation("GET", "/services", Role.READER)
    async def list_services(self) -> list[ServiceDto]:
        """List the running instances of services, by name."""
        return await self._directory.services()

    @operation("POST", "/services", Role.OPERATOR, bodiless=frozenset({400}))
    async def send_to_service(self, request: Body[ServiceSendDto]) -> None:
        """Send a request to an endpoint that a service has announced.

        Answered with 200 once the service has answered, and with 400 without a body when nobody does within 10 s,
        when the service refuses, or when the endpoint is not a service's.
        """
        await self._directory.send(request)
