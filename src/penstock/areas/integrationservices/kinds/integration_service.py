"""The configuration kind IntegrationService."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.integrationservices.model import IntegrationService, IntegrationServiceProperty, StoredService
from penstock.areas.integrationservices.service import IntegrationServices
from penstock.kernel.actor import Actor
from penstock.kernel.errors import Invalid
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec, in_document

_PLACES = {"Name": "metadata.name", "Description": "metadata.description"}


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


class IntegrationServiceKind(ConfigurationKind[IntegrationServiceSpec]):
    """An integration service."""

    kind = "IntegrationService"
    spec = IntegrationServiceSpec

    def __init__(self, services: IntegrationServices) -> None:
        self._services = services

    async def plan(self, metadata: Metadata, spec: IntegrationServiceSpec, actor: Actor) -> Plan:
        before = await self._services.find(metadata.name)
        try:
            after, writes = self._services.plan_put(_wanted(metadata, spec), before, actor)
        except Invalid as error:
            raise in_document(error, _PLACES) from None
        shown = _shown(before) if before is not None else None
        if not writes:
            return Plan("keep", before=shown, after=shown)
        return Plan(
            "change" if before is not None else "create",
            before=shown,
            after=_shown(after),
            writes=writes,
            finish=[partial(self._services.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        service = await self._services.find(metadata.name)
        if service is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(service),
            writes=self._services.plan_remove(service, actor),
            finish=[partial(self._services.announce, service)],
        )


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
