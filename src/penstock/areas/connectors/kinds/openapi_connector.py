"""The configuration kind OpenApiConnector."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.connectors.model import OpenApiConnector
from penstock.areas.connectors.service import ConnectorService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.packages.environment import Package
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec

_LONGEST = 1024
_MOST_LABELS = 100


class OpenApiConnectorSpec(Spec):
    """An entry of the registry of connectors."""

    package: Annotated[str, msgspec.Meta(description="The Python package that brings it.")]
    version: Annotated[str | None, msgspec.Meta(description="Its version; the newest when omitted.")] = None
    description: Annotated[
        str | None, msgspec.Meta(description="What it is for; metadata.description stands in for it.")
    ] = None
    labels: Annotated[list[str], msgspec.Meta(description="Words that it is found by.")] = []


class OpenApiConnectorKind(ConfigurationKind[OpenApiConnectorSpec]):
    """A connector of the registry that `GET /integrations/connectors/openapi` lists."""

    kind = "OpenApiConnector"
    spec = OpenApiConnectorSpec

    def __init__(self, service: ConnectorService) -> None:
        self._service = service

    async def plan(self, metadata: Metadata, spec: OpenApiConnectorSpec, actor: Actor) -> Plan:
        wanted = OpenApiConnector(
            name=metadata.name,
            description=spec.description if spec.description is not None else metadata.description,
            package=spec.package,
            version=spec.version,
            labels=spec.labels,
        )
        if errors := _errors(wanted):
            raise Invalid(errors)
        before = await self._service.find(metadata.name)
        after, writes = self._service.plan_put(wanted, before, actor)
        shown = _shown(before) if before is not None else None
        if not writes:
            return Plan("keep", before=shown, after=shown)
        return Plan(
            "change" if before is not None else "create",
            before=shown,
            after=_shown(after),
            writes=writes,
            finish=[partial(self._service.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        connector = await self._service.find(metadata.name)
        if connector is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(connector),
            writes=self._service.plan_remove(connector, actor),
            finish=[partial(self._service.announce, connector)],
        )


def _errors(connector: OpenApiConnector) -> list[FieldError]:
    errors = name_errors("metadata.name", connector.name)
    try:
        Package.checked(connector.package, connector.version, ("spec.package", "spec.version"))
    except Invalid as error:
        errors += error.errors
    if len(connector.description or "") > _LONGEST:
        errors.append(FieldError("spec.description", f"must have at most {_LONGEST} characters"))
    if len(connector.labels) > _MOST_LABELS or any(len(label) > _LONGEST for label in connector.labels):
        errors.append(FieldError("spec.labels", f"must be at most {_MOST_LABELS} of at most {_LONGEST} characters"))
    return errors


def _shown(connector: OpenApiConnector) -> OpenApiConnectorSpec:
    return OpenApiConnectorSpec(
        package=connector.package,
        version=connector.version,
        description=connector.description,
        labels=connector.labels,
    )
