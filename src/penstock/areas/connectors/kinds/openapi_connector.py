"""The configuration kind OpenApiConnector."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.connectors.model import OpenApiConnector
from penstock.areas.connectors.service import ConnectorService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.packages.environment import Package
from penstock.resource.kind import Metadata, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write

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


class OpenApiConnectorKind(ResourceKind[OpenApiConnectorSpec, OpenApiConnector]):
    """A connector of the registry that `GET /integrations/connectors/openapi` lists."""

    kind = "OpenApiConnector"
    places = {"Name": "metadata.name"}
    spec = OpenApiConnectorSpec

    def __init__(self, service: ConnectorService) -> None:
        super().__init__(service)
        self._service = service

    async def plan_put(
        self, metadata: Metadata, spec: OpenApiConnectorSpec, before: OpenApiConnector | None, actor: Actor
    ) -> tuple[OpenApiConnector, Sequence[Write]]:
        wanted = OpenApiConnector(
            name=metadata.name,
            description=spec.description if spec.description is not None else metadata.description,
            package=spec.package,
            version=spec.version,
            labels=spec.labels,
        )
        _check(wanted)
        return self._service.plan_put(wanted, before, actor)

    def shown(self, entity: OpenApiConnector) -> OpenApiConnectorSpec:
        return _shown(entity)


def _check(connector: OpenApiConnector) -> None:
    """Raises Invalid."""
    errors = name_errors("Name", connector.name)
    try:
        Package.checked(connector.package, connector.version, ("Package", "Version"))
    except Invalid as error:
        errors += error.errors
    if len(connector.description or "") > _LONGEST:
        errors.append(FieldError("Description", f"must have at most {_LONGEST} characters"))
    if len(connector.labels) > _MOST_LABELS or any(len(label) > _LONGEST for label in connector.labels):
        errors.append(FieldError("Labels", f"must be at most {_MOST_LABELS} of at most {_LONGEST} characters"))
    if errors:
        raise Invalid(errors)


def _shown(connector: OpenApiConnector) -> OpenApiConnectorSpec:
    return OpenApiConnectorSpec(
        package=connector.package,
        version=connector.version,
        description=connector.description,
        labels=connector.labels,
    )
