"""Whether there is what a version's requests are to go to."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from penstock.areas.apim.upstream_parameters import (
    AddressParameters,
    EndpointParameters,
    TriggerParameters,
    UpstreamParameters,
)
from penstock.connectors.reference import names_in
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import Invalid
from penstock.resource.kind import Need
from penstock.resource.ports.hosted_endpoints import HostedEndpoints
from penstock.resource.ports.web_routes import WebRoutes

ENDPOINT_KIND = "IntegrationEndpoint"


class Upstreams:
    """Asked before a version is stored."""

    def __init__(self, guard: AddressGuard, endpoints: HostedEndpoints, routes: WebRoutes) -> None:
        self._guard = guard
        self._endpoints = endpoints
        self._routes = routes

    async def check(self, parameters: UpstreamParameters) -> None:
        """Raises Invalid for an address that may not be connected to, and a route that nothing serves."""
        match parameters:
            case AddressParameters(url=url) if not names_in(url):
                await self._guard.check({"Parameters.Url": urlsplit(url).hostname or ""})
            case TriggerParameters(trigger=name) if await self._routes.route_of(name) is None:
                raise Invalid.one("Parameters.Trigger", f"there is no web trigger or notebook endpoint '{name}'")

    async def needs(self, parameters: UpstreamParameters) -> Sequence[Need]:
        """What does not exist yet and could be made by the same text of configuration."""
        match parameters:
            case EndpointParameters(endpoint=route) if not await self._endpoints.has(route):
                return [Need(ENDPOINT_KIND, route, "spec.parameters.endpoint")]
        return ()
