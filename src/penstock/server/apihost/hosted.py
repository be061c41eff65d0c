"""The endpoints of the component, in memory."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import structlog

from penstock.apihost.configuration import ConfigurationSchema
from penstock.apihost.host import ApiHost, Launch
from penstock.apihost.life import EndpointLife
from penstock.apihost.standing import moved, new_standing
from penstock.connectors.resolution import Secrets, filled
from penstock.connectors.secret_fields import without_secrets
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NameTaken, NotFound
from penstock.protocol.endpoint import EndpointStanding
from penstock.protocol.status import EndpointStatusEnum2 as Status
from penstock.server.apihost.catalog import ApiCatalog, CatalogApi
from penstock.server.apihost.model import AdminEndpoint

log = structlog.get_logger(__name__)

_ROUTE = re.compile(r"(/[A-Za-z0-9~_-][A-Za-z0-9.~_-]*)+", re.ASCII)
_OWN = "/admin"
_UNDER_WAY = (Status.NEW, Status.CHANGED, Status.INITIALIZING)


class Memory:
    """How an endpoint stands, as long as the process lives."""

    def __init__(self, standing: EndpointStanding) -> None:
        self.status = standing
        self._moved = asyncio.Condition()

    async def note(self, status: EndpointStanding) -> None:
        self.status = status
        async with self._moved:
            self._moved.notify_all()

    async def settled(self) -> None:
        """Waits until it is neither new nor being initialized."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.status.status not in _UNDER_WAY)


@dataclass
class Hosted:
    """One endpoint. shown: its configuration, secrets masked. task: of its life, once it was initialized.

    beginning: held by whoever initializes it.
    """

    route: str
    use: CatalogApi
    configuration: Mapping[str, Any]
    shown: Mapping[str, Any]
    memory: Memory
    life: EndpointLife
    task: "asyncio.Task[None] | None" = None
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)


class HostedEndpoints:
    """Works within `async with`; leaving it ends every process."""

    def __init__(self, catalog: ApiCatalog, host: ApiHost, clock: Clock) -> None:
        self._catalog = catalog
        self._host = host
        self._clock = clock
        self._endpoints: dict[str, Hosted] = {}

    async def __aenter__(self) -> "HostedEndpoints":
        return self

    async def __aexit__(self, *_: object) -> None:
        async with asyncio.TaskGroup() as group:
            for hosted in self._endpoints.values():
                group.create_task(_ended(hosted))

    @property
    def all(self) -> Sequence[Hosted]:
        """By route."""
        return [self._endpoints[route] for route in sorted(self._endpoints)]

    def create(self, wanted: AdminEndpoint) -> Hosted:
        """A new endpoint, not initialized yet. Raises Invalid, NotFound for the API, NameTaken for the route."""
        route = wanted.route or ""
        if not _ROUTE.fullmatch(route) or route == _OWN or route.startswith(_OWN + "/"):
            raise Invalid.one("Route", f"must be a path like '/orders' that does not begin with {_OWN}")
        api = wanted.api
        use = self._catalog.find(api.name if api else None, api.version if api else None)
        schema = ConfigurationSchema(use.api.schema)
        configuration = wanted.json_configuration or {}
        schema.check(configuration, "JsonConfiguration")
        if route in self._endpoints:
            raise NameTaken(f"the route {route} is taken")
        shown, _ = without_secrets(schema.document, configuration)
        memory = Memory(new_standing(self._clock.now()))
        life = EndpointLife(route.removeprefix("/"), route, memory, self._host, self._clock)
        hosted = self._endpoints[route] = Hosted(route, use, configuration, shown, memory, life)
        return hosted

    def get(self, route: str) -> Hosted:
        """Raises NotFound."""
        if route not in self._endpoints:
            raise NotFound.of("endpoint", route)
        return self._endpoints[route]

    async def initialize(self, route: str) -> Hosted:
        """Begins it, anew if it runs; returns once it is ready or has failed. Raises NotFound."""
        hosted = self.get(route)
        async with hosted.beginning:
            await self._begin(hosted)
        await hosted.memory.settled()
        return hosted

    async def _begin(self, hosted: Hosted) -> None:
        await _ended(hosted)
        if hosted.memory.status.status is not Status.NEW:
            await hosted.memory.note(moved(hosted.memory.status, Status.CHANGED, self._clock.now()))
        hosted.life = EndpointLife(hosted.life.name, hosted.route, hosted.memory, self._host, self._clock)
        hosted.task = asyncio.create_task(self._live(hosted), name=f"endpoint {hosted.route}")

    async def remove(self, route: str) -> None:
        """Raises NotFound."""
        hosted = self.get(route)
        del self._endpoints[route]
        await _ended(hosted)

    def at(self, path: str) -> Hosted | None:
        """The endpoint that serves a path: the one with the longest route."""
        parts = path.split("/")
        for count in range(len(parts), 1, -1):
            found = self._endpoints.get("/".join(parts[:count]))
            if found is not None:
                return found
        return None

    async def _live(self, hosted: Hosted) -> None:
        async def prepare() -> Launch:
            secrets, use = Secrets(), hosted.use
            # There are no variables here.
            ready = filled(msgspec.json.decode(use.api.schema), dict(hosted.configuration), {}, secrets)
            return Launch(use.package, use.digest, use.api.name, use.api.version, ready, secrets, use.packages)

        try:
            await hosted.life.serve(prepare)
        except Exception as error:
            log.error("endpoint ended", route=hosted.route, exc_info=error)


async def _ended(hosted: Hosted) -> None:
    if hosted.task is not None:
        hosted.task.cancel()
        await asyncio.wait({hosted.task})
        hosted.task = None
