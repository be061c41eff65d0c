"""The published documents."""

import asyncio
from collections.abc import Sequence

from penstock.areas.apim.catalog.merged import MergedDocument
from penstock.areas.apim.catalog.parts import Malformed, Object
from penstock.areas.apim.catalog.published import PublishedVersion, published_versions
from penstock.areas.apim.catalog.sources import DocumentSources, Source
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import listed
from penstock.areas.apim.usage.standings import GatewayStandings
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.kernel.names import name_key

_TITLE = "Published APIs"
_DESCRIPTION = "Every active version of every API whose OpenAPI document is known. `x-left-out` says which are not."


class Catalog:
    """Made anew for each request: it is read by people and build scripts, not by callers of APIs."""

    def __init__(
        self, registers: Registers, sources: DocumentSources, gateways: GatewayStandings, clock: Clock
    ) -> None:
        self._registers = registers
        self._sources = sources
        self._gateways = gateways
        self._clock = clock

    async def whole(self) -> Object:
        """All versions in one; those that cannot be in it are named with the reason. Raises Unavailable."""
        merged = MergedDocument(await self._servers(), self._clock.now())
        versions = published_versions(await self._registers.current())
        await self._sources.prepare(versions)
        found = [(version, await self._source(version)) for version in versions]
        # A thousand versions take seconds, in which requests are to be answered.
        return await asyncio.to_thread(_merge, merged, found)

    async def of_version(self, api_name: str, version: str) -> Object:
        """One version, in the names of its own document. Raises NotFound with the reason, Unavailable."""
        wanted = name_key(listed(api_name, version))
        versions = published_versions(await self._registers.current())
        found = next((each for each in versions if name_key(each.listed) == wanted), None)
        if found is None:
            raise NotFound(f"there is no active version {listed(api_name, version)}")
        merged = MergedDocument(await self._servers(), self._clock.now(), alone=True)
        try:
            source = await self._sources.of(found)
            merged.add(found, source.document, source.upstream_path)
        except Malformed as reason:
            raise NotFound(f"the version {found.listed} has no document to show: {reason.detail}") from None
        return merged.document(f"{found.api} {found.version}", found.entity.description or "")

    async def refresh(self) -> Object:
        """All versions, with the documents that their addresses give now. Raises Unavailable."""
        self._sources.forget()
        return await self.whole()

    async def _source(self, version: PublishedVersion) -> Source | Malformed:
        try:
            return await self._sources.of(version)
        except Malformed as reason:
            return reason

    async def _servers(self) -> Sequence[str]:
        return sorted({each.address for each in await self._gateways.all() if each.online and each.address})


def _merge(merged: MergedDocument, found: Sequence[tuple[PublishedVersion, Source | Malformed]]) -> Object:
    for version, source in found:
        try:
            if isinstance(source, Malformed):
                raise source
            merged.add(version, source.document, source.upstream_path)
        except Malformed as reason:
            merged.leave_out(version, reason.detail)
    return merged.document(_TITLE, _DESCRIPTION)
