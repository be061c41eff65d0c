"""Services as the HTTP API shows them (specification 1, "Identity, variables, services, system")."""

from penstock.kernel.wire import Map, Wire


class ServiceEndpointDto(Wire):
    """Where a service takes requests. Endpoint: the subject of the bus."""

    name: str | None = None
    version: str | None = None
    endpoint: str | None = None
    metadata: Map | None = None


class ServiceDto(Wire):
    """A running instance of a service. Type: the kind of its announcement, as NATS names it."""

    name: str | None = None
    version: str | None = None
    description: str | None = None
    type: str | None = None
    id: str | None = None
    metadata: Map | None = None
    endpoints: list[ServiceEndpointDto] | None = None


class ServiceSendDto(Wire):
    """A request. Endpoint: as a service announces it."""

    endpoint: str | None = None
    data: bytes | None = None
