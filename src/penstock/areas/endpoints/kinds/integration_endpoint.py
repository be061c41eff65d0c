"""The configuration kind IntegrationEndpoint."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from penstock.areas.endpoints.service import EndpointService, Wanted
from penstock.areas.endpoints.stored import StoredEndpoint
from penstock.connectors.registry import configuration_object
from penstock.kernel.actor import Actor
from penstock.kernel.wire import encode
from penstock.protocol.capability import Requirement
from penstock.resource.kind import Metadata, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write


class IntegrationEndpointSpec(Spec):
    """An API hosted at a route, by every agent that meets the requirements."""

    api: Annotated[str, msgspec.Meta(description="Name of an API of a package that is ready.")]
    api_version: Annotated[
        str | None, msgspec.Meta(description="Its version; the one registered last when omitted.")
    ] = None
    route: Annotated[str, msgspec.Meta(description="Where agents serve it, like `/orders`; unique.")]
    configuration: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="What the API's schema describes. `{{var:NAME}}` in a text is replaced on the agent. Secrets "
            "are sealed and shown as a mask, which keeps the secret while the rest stays."
        ),
    ] = {}
    requirements: Annotated[
        dict[str, str], msgspec.Meta(description="Capabilities that an agent must have; see Schedule.")
    ] = {}


class IntegrationEndpointKind(ResourceKind[IntegrationEndpointSpec, StoredEndpoint]):
    """An API of a package, hosted by agents."""

    kind = "IntegrationEndpoint"
    spec = IntegrationEndpointSpec
    places = {"Name": "metadata.name", "ApiName": "spec.api", "JsonConfiguration": "spec.configuration"}

    def __init__(self, endpoints: EndpointService) -> None:
        super().__init__(endpoints)
        self._endpoints = endpoints

    async def plan_put(
        self, metadata: Metadata, spec: IntegrationEndpointSpec, before: StoredEndpoint | None, actor: Actor
    ) -> tuple[StoredEndpoint, Sequence[Write]]:
        return await self._endpoints.plan(_wanted(metadata, spec, before), before, actor)

    def made(self, entity: StoredEndpoint) -> Sequence[str]:
        return [entity.route]

    def shown(self, entity: StoredEndpoint) -> IntegrationEndpointSpec:
        return shown_spec(entity)


def shown_spec(endpoint: StoredEndpoint) -> IntegrationEndpointSpec:
    """The endpoint as a document describes it, secrets masked."""
    return IntegrationEndpointSpec(
        api=endpoint.api_name,
        api_version=endpoint.api_version,
        route=endpoint.route,
        configuration=configuration_object(endpoint.configuration),
        requirements={each.identifier or "": each.value or "" for each in endpoint.requirements},
    )


def _wanted(metadata: Metadata, spec: IntegrationEndpointSpec, before: StoredEndpoint | None) -> Wanted:
    return Wanted(
        name=before.name if before is not None else metadata.name,
        api_name=spec.api,
        api_version=spec.api_version,
        route=spec.route,
        configuration=encode(spec.configuration).decode(),
        description=metadata.description,
        requirements=[Requirement(identifier=name, value=value) for name, value in spec.requirements.items()],
    )
