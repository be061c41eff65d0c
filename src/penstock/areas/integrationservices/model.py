"""Integration services: templates that flows are generated from (specification 1, "Integration resources")."""

import msgspec

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Map, UInt64, Wire
from penstock.protocol.capability import Requirement
from penstock.store.definition import Collection, Column, ColumnType


class IntegrationServiceProperty(Wire):
    """What a flow of the service must, or may, be told.

    Type: string (when omitted), integer, number, boolean, or secret: a `{{var:NAME}}`. Default: a text of that type.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    type: str | None = None
    default: str | None = None
    example: str | None = None
    is_required: bool = False


class IntegrationService(Wire):
    """A template of flows.

    Specification: routes in Camel's YAML DSL; `{{NAME}}` in a text stands for the property or variable NAME.
    Variables: values that hold unless a flow is given others.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    category: str | None = None
    specification: str | None = None
    variables: Map | None = None
    properties: list[IntegrationServiceProperty] | None = None


class IntegrationServiceDto(IntegrationService):
    """A template of flows. Version counts its changes."""

    version: UInt64
    id: str | None = None


class ServiceFlow(Wire):
    """A flow to be generated. Variables: in place of the service's own. Requirements: of the agents."""

    name: str | None = None
    project: str | None = None
    variables: Map | None = None
    labels: list[str] | None = None
    requirements: list[Requirement] | None = None


class GeneratedServiceFlow(Wire):
    """A flow as it was generated. Version: the flow's. FlowSpec, Variables: what was saved as such."""

    name: str
    version: str
    flow_spec: str
    variables: Map


class StoredService(Entity):
    """An integration service as stored."""

    name: str
    title: str | None = None
    description: str | None = None
    category: str | None = None
    specification: str = ""
    variables: Map | None = None
    properties: list[IntegrationServiceProperty] = []
    version: int = 1

    def shown(self) -> IntegrationService:
        return IntegrationService(
            name=self.name,
            title=self.title,
            description=self.description,
            category=self.category,
            specification=self.specification,
            variables=self.variables,
            properties=self.properties,
        )

    def dto(self) -> IntegrationServiceDto:
        return IntegrationServiceDto(**msgspec.structs.asdict(self.shown()), version=self.version, id=str(self.key))


SERVICES: Collection[StoredService] = Collection(
    "integration_services",
    StoredService,
    (Column("name", lambda service: service.name, ColumnType.KEY, unique=True),),
)
