"""Endpoints: hosted APIs that agents are to have, and how each stands there."""

from datetime import datetime

from penstock.kernel.wire import Wire
from penstock.protocol.status import EndpointStatusEnum, EndpointStatusEnum2, StatusLogOfEndpointStatusEnum


class EndpointPackage(Wire):
    """The package that brings an API. digest: what its files must be; None where they differ between machines."""

    name: str
    version: str
    digest: str | None = None


class EndpointItem(Wire):
    """An endpoint as an agent is to have it.

    configuration: JSON object whose `{{var:NAME}}` the agent replaces. shown: it with its secrets masked.
    schema: JSON Schema of the configuration.
    """

    name: str
    route: str
    api_name: str
    api_version: str
    configuration: str
    shown: str
    schema: str
    package: EndpointPackage


class EndpointStanding(Wire):
    """How an endpoint stands, and its latest moves, the oldest first.

    route, configuration: as it runs; secrets masked. schema: the OpenAPI document that the application shows.
    """

    status: EndpointStatusEnum2
    previous_status: EndpointStatusEnum2
    last_status_update: datetime
    moves: list[StatusLogOfEndpointStatusEnum] = []
    route: str | None = None
    configuration: str | None = None
    schema: str | None = None

    @property
    def status_number(self) -> EndpointStatusEnum:
        return number_of(self.status)

    @property
    def previous_number(self) -> EndpointStatusEnum:
        return number_of(self.previous_status)


def number_of(status: EndpointStatusEnum2) -> EndpointStatusEnum:
    return EndpointStatusEnum[status.name]
