"""What the operations below /admin take and tell (specification 2, "Admin surface of the API-hosting component")."""

from datetime import datetime

from penstock.kernel.wire import Map, Wire
from penstock.protocol.status import (
    AgentEndpointManagerStatusEnum2,
    EndpointStatusEnum2,
    StatusLogOfEndpointStatusEnum,
)


class AdminEndpointApi(Wire):
    """The API that an endpoint hosts. Version: in four parts or fewer; zeros at the end do not count."""

    name: str | None = None
    version: str | None = None


class AdminEndpoint(Wire):
    """An endpoint to be created. Route: begins with a slash."""

    api: AdminEndpointApi | None = None
    json_configuration: Map | None = None
    route: str | None = None


class HostedApi(Wire):
    """An API in the catalog. Digest: of its package's files."""

    name: str
    version: str
    description: str
    configuration_schema: str
    package_name: str
    package_version: str
    digest: str


class HostedEndpoint(Wire):
    """An endpoint; secrets in its configuration are masked. StatusUpdates: its latest moves, the oldest first."""

    route: str
    api: AdminEndpointApi
    json_configuration: Map
    status: EndpointStatusEnum2
    previous_status: EndpointStatusEnum2
    last_status_update: datetime
    status_updates: list[StatusLogOfEndpointStatusEnum]


class ApiHostStatus(Wire):
    """Everything: the catalog, the endpoints, and how they stand together."""

    system_status: AgentEndpointManagerStatusEnum2
    apis: list[HostedApi]
    endpoints: list[HostedEndpoint]
