"""The configuration kind IntegrationService."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.integrationservices.model import IntegrationService, IntegrationServiceProperty, StoredService
from penstock.areas.integrationservices.service import IntegrationServices
from penstock.kernel.actor import Actor
from penstock.resource.kind import Metadata, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write


class ServicePropertySpec(Spec):
    """What a flow of the service must, or may, be told."""

    name: Annotated[str, msgspec.Meta(description="As `{{NAME}}` in the specification.")]
    title: str | None = None
    description: str | None = None
    type: Annotated[
        str | None, msgspec.Meta(description="string (when omitted), integer, number, boolean, or secret.")
    ] = None
    default: Annotated[str | None, msgspec.Meta(description="A text of that type.")] = None
    example: str | None = None
    is_required: bool = False


class IntegrationServiceSpec(Spec):
    """A template that flows are generated from."""

    specification: Annotated[
        str, msgspec.Meta(description="Routes in Camel's YAML DSL; `{{NAME}}` stands for a property or variable.")
    ]
    title: Annotated[str | None, msgspec.Meta(description="What people call it.")] = None
    category: Annotated[str | None, msgspec.Meta(description="metadata.category stands in for it.")] = None
    variables: Annotated[
        dict[str, str | int | float | bool] | None,
        msgspec.Meta(description="Values that hold unless a flow is given others."),
    ] = None
    properties: Annotated[list[ServicePropertySpec], msgspec.Meta(description="What variables there are.")] = []


class IntegrationServiceKind(ResourceKind[IntegrationServiceSpec, StoredService]):
    """An integration service."""

    kind = "IntegrationService"
    spec = IntegrationServiceSpec

    def __init__(self, service: IntegrationServices) -> None:
        super().__init__(service)
        self._service = service

    async def plan_put(
        self, metadata: Metadata, spec: IntegrationServiceSpec, before: StoredService | None, actor: Actor
    ) -> tuple[StoredService, Sequence[Write]]:
        return self._service.plan_put(_wanted(metadata, spec), before, actor)

    def shown(self, entity: StoredService) -> IntegrationServiceSpec:
        return _shown(entity)


def _wanted(metadata: Metadata, spec: IntegrationServiceSpec) -> IntegrationService:
    return IntegrationService(
        name=metadata.name,
        title=spec.title,
        description=metadata.description,
        category=spec.category or metadata.category,
        specification=spec.specification,
        variables=dict(spec.variables) if spec.variables else None,
        properties=[IntegrationServiceProperty(**msgspec.structs.asdict(each)) for each in spec.properties],
    )


def _shown(service: StoredService) -> IntegrationServiceSpec:
    return IntegrationServiceSpec(
        specification=service.specification,
        title=service.title,
        category=service.category,
        variables=service.variables,
        properties=[ServicePropertySpec(**msgspec.structs.asdict(each)) for each in service.properties],
    )
