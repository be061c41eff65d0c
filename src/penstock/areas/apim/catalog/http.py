"""Operations on the documents of what is published."""

from penstock.areas.apim.catalog.service import Catalog
from penstock.kernel.actor import Role
from penstock.kernel.wire import Map
from penstock.resource.operation import operation

_CATALOG = "/apim/openapi"


class CatalogOperations:
    """OpenAPI documents of published APIs."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @operation("GET", _CATALOG, Role.READER, beyond=True)
    async def catalog(self) -> Map:
        """Get one OpenAPI document of all active versions.

        Paths begin with the version's own, names of components and operations with API and version; servers are the
        gateways that are online. Documents come from what endpoints show, from Parameters.OpenApi (an address, asked
        again after five minutes, or the document), and for triggers from the parameters of what they run. A version
        whose document cannot be had or is malformed is in `x-left-out` with the reason.
        """
        return await self._catalog.whole()

    @operation("POST", f"{_CATALOG}/refresh", Role.OPERATOR, beyond=True)
    async def refresh_catalog(self) -> Map:
        """Get the document of all active versions, all addresses of documents asked now."""
        return await self._catalog.refresh()

    @operation("GET", "/apim/apiversions/{apiName}/{version}/openapi", Role.READER, beyond=True)
    async def version_document(self, api_name: str, version: str) -> Map:
        """Get the OpenAPI document of an active version, as callers reach it by the gateways.

        404 says why there is none.
        """
        return await self._catalog.of_version(api_name, version)
