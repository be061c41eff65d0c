"""Operations below /admin."""

from collections.abc import Iterable

from penstock.apihost.standing import together
from penstock.kernel.actor import Role
from penstock.kernel.wire import Map, Wire, encode
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body
from penstock.server.apihost.catalog import ApiCatalog, CatalogApi
from penstock.server.apihost.hosted import Hosted, HostedEndpoints
from penstock.server.apihost.model import (
    AdminEndpoint,
    AdminEndpointApi,
    ApiHostStatus,
    HostedApi,
    HostedEndpoint,
)


class AdminOperations:
    """What there is, and what is to be. Nothing is kept over a restart."""

    def __init__(self, catalog: ApiCatalog, endpoints: HostedEndpoints) -> None:
        self._catalog = catalog
        self._endpoints = endpoints

    @operation("PUT", "/admin/api/apis", Role.ADMIN)
    async def add_api(
        self,
        body: Body[Map | None],
        package_name: str | None = None,
        version: str | None = None,
        feed_url: str | None = None,
    ) -> File:
        """Add the APIs of a package; answers them.

        feedUrl is a package index, or a folder of wheels (`file:///...`); version is the newest when it is left out.
        The package is installed from wheels only, before this answers.
        """
        return _stream([_api(each) for each in await self._catalog.add(package_name, version, feed_url)])

    @operation("POST", "/admin/api/Endpoints", Role.ADMIN)
    async def create(self, endpoint: Body[AdminEndpoint]) -> File:
        """Create an endpoint; answers it. It is served once it is initialized.

        JsonConfiguration is checked by the API's schema. An unknown API answers 404, a taken Route 409.
        """
        return _stream(_endpoint(self._endpoints.create(endpoint)))

    @operation("POST", "/admin/api/Endpoints/{route}/initialize", Role.ADMIN)
    async def initialize(self, route: str, body: Body[Map | None]) -> File:
        """Initialize an endpoint, anew if it runs; answers it once it is Ready or has failed for the first time.

        The route is URL-encoded, its leading slash included. One that has failed is tried again twice.
        """
        return _stream(_endpoint(await self._endpoints.initialize(route)))

    @operation("GET", "/admin/api/apis", Role.ADMIN, beyond=True)
    async def apis(self) -> list[HostedApi]:
        """List the catalog."""
        return [_api(each) for each in self._catalog.apis]

    @operation("GET", "/admin/api/endpoints", Role.ADMIN, beyond=True)
    async def endpoints(self) -> list[HostedEndpoint]:
        """List the endpoints, by route."""
        return [_endpoint(each) for each in self._endpoints.all]

    @operation("GET", "/admin/api/status", Role.ADMIN, beyond=True)
    async def status(self) -> ApiHostStatus:
        """Get the catalog and the endpoints, and how these stand together."""
        standings = [each.memory.status.status for each in self._endpoints.all]
        return ApiHostStatus(
            system_status=together(standings), apis=await self.apis(), endpoints=await self.endpoints()
        )

    @operation("DELETE", "/admin/api/endpoints", Role.ADMIN, beyond=True)
    async def remove(self, route: str) -> File:
        """Delete an endpoint; its process ends."""
        await self._endpoints.remove(route)
        return File()


def _stream(content: Wire | Iterable[Wire]) -> File:
    """JSON, in the media type that callers of this surface ask for."""
    return File(encode(content))


def _api(use: CatalogApi) -> HostedApi:
    return HostedApi(
        name=use.api.name,
        version=use.api.version,
        description=use.api.description,
        configuration_schema=use.api.schema,
        package_name=use.package.name,
        package_version=use.package.version or "",
        digest=use.digest,
    )


def _endpoint(hosted: Hosted) -> HostedEndpoint:
    standing = hosted.memory.status
    return HostedEndpoint(
        route=hosted.route,
        api=AdminEndpointApi(name=hosted.use.api.name, version=hosted.use.api.version),
        json_configuration=dict(hosted.shown),
        status=standing.status,
        previous_status=standing.previous_status,
        last_status_update=standing.last_status_update,
        status_updates=standing.moves,
    )
