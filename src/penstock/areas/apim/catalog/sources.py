"""Where the documents of versions come from."""

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog

from penstock.areas.apim.catalog.derived import derived_document
from penstock.areas.apim.catalog.parts import Malformed
from penstock.areas.apim.catalog.published import PublishedVersion
from penstock.areas.apim.catalog.source_document import LARGEST, SourceDocument
from penstock.areas.apim.upstream_parameters import AddressParameters, EndpointParameters, TriggerParameters
from penstock.egress.address_guard import AddressGuard, AddressRefused
from penstock.egress.guarded_http import GuardedHttp, HttpFailed
from penstock.kernel.errors import NotFound, TooLarge
from penstock.resource.ports.endpoint_documents import EndpointDocuments
from penstock.resource.ports.web_routes import WebScripts

log = structlog.get_logger(__name__)

_FRESH_SECONDS = 300.0
_PATIENCE_SECONDS = 5.0
_AT_ONCE = 16


class Source(NamedTuple):
    """upstream_path: of the address that requests go to."""

    document: SourceDocument
    upstream_path: str = ""


class Fetched(NamedTuple):
    """document: the last good one. problem: why there is none of this time."""

    at: float
    document: SourceDocument | None
    problem: str | None


class DocumentSources:
    """What comes from addresses is asked for again after five minutes; until it is there the last one holds."""

    def __init__(self, guard: AddressGuard, endpoints: EndpointDocuments, scripts: WebScripts) -> None:
        self._guard = guard
        self._endpoints = endpoints
        self._scripts = scripts
        self._fetched: dict[str, Fetched] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def of(self, version: PublishedVersion) -> Source:
        """Raises Malformed with the reason when there is none."""
        settings = version.settings
        given = settings.open_api
        path = urlsplit(settings.url).path if isinstance(settings, AddressParameters) else ""
        if isinstance(given, dict):
            return Source(SourceDocument(given), path)
        if given is not None:
            return Source(await self._of_address(given), path)
        match settings:
            case EndpointParameters(endpoint=route):
                return await self._of_endpoint(route)
            case TriggerParameters(trigger=name):
                return await self._of_trigger(name)
        raise Malformed("nothing says where its document is: Parameters.OpenApi takes an address, or the document")

    async def prepare(self, versions: Sequence[PublishedVersion]) -> None:
        """Asks the addresses of all of them side by side."""
        addresses = {each.settings.open_api for each in versions if isinstance(each.settings.open_api, str)}
        async with asyncio.TaskGroup() as group:
            for address in sorted(addresses):
                group.create_task(self._asked(address))

    def forget(self) -> None:
        """Has every address asked again."""
        self._fetched = {
            address: each._replace(at=float("-inf"))
            for address, each in self._fetched.items()
            if each.document is not None
        }

    async def _of_endpoint(self, route: str) -> Source:
        text = await self._endpoints.document(route)
        if text is None:
            raise Malformed(f"no agent has seen a document of the endpoint at {route}")
        return Source(SourceDocument.read(text), route)

    async def _of_trigger(self, name: str) -> Source:
        try:
            return Source(derived_document(name, await self._scripts.parameters(name)))
        except NotFound:
            raise Malformed(f"nothing runs at the route of '{name}'") from None

    async def _of_address(self, address: str) -> SourceDocument:
        known = await self._asked(address)
        if known.document is None:
            raise Malformed(f"its document cannot be had: {known.problem}")
        return known.document

    async def _asked(self, address: str) -> Fetched:
        async with self._turns:
            known = self._fetched.get(address)
            if known is None or time.monotonic() - known.at > _FRESH_SECONDS:
                known = await self._fetch(address, known.document if known is not None else None)
                self._fetched[address] = known
        return known

    async def _fetch(self, address: str, before: SourceDocument | None) -> Fetched:
        problem: str
        try:
            async with GuardedHttp(self._guard) as http:
                answer = await http.request("GET", address, timeout=_PATIENCE_SECONDS, most=LARGEST)
            if answer.status == 200:
                return Fetched(time.monotonic(), SourceDocument.read(answer.body), None)
            problem = f"the answer is {answer.status}"
        except (AddressRefused, HttpFailed, TooLarge, Malformed) as error:
            problem = error.detail
        log.warning("document of a published API cannot be had", address=address.partition("?")[0], reason=problem)
        return Fetched(time.monotonic(), before, problem)
