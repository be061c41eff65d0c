"""Runs the agent's endpoints, one task each."""

import asyncio
from collections.abc import Callable, Mapping
from uuid import UUID

import msgspec

from penstock.agent.assigned.book import Book, Drawer, Kept
from penstock.agent.assigned.task_keeper import TaskKeeper
from penstock.agent.endpoints.served import ServedEndpoint
from penstock.agent.variables import VariableSource
from penstock.apihost.configuration import ConfigurationSchema
from penstock.apihost.entrance import Entrance
from penstock.apihost.host import ApiHost, Launch
from penstock.apihost.life import EndpointLife
from penstock.apihost.standing import moved, new_standing
from penstock.connectors.reference import names_in
from penstock.connectors.registry import configuration_object
from penstock.connectors.resolution import Secrets, filled
from penstock.flow.http.http_server import HttpServer
from penstock.packages.environment import Package
from penstock.protocol.endpoint import EndpointItem, EndpointStanding
from penstock.protocol.status import EndpointStatusEnum2 as Status

Moved = Callable[[], None]


class EndpointBook(Book[EndpointStanding]):
    """on_moved: told of each move."""

    def __init__(self, drawer: Drawer, key: UUID, kept: Kept | None, on_moved: Moved) -> None:
        super().__init__(drawer, key, kept, new_standing(drawer.clock.now()))
        self._on_moved = on_moved

    async def note(self, status: EndpointStanding) -> None:
        await super().note(status)
        self._on_moved()


class EndpointKeeper(TaskKeeper[EndpointItem, EndpointBook]):
    """An endpoint that is given up keeps its route, where callers are told, until it changes."""

    body = EndpointItem

    def __init__(
        self,
        drawer: Drawer,
        host: ApiHost,
        server: HttpServer,
        entrance: Entrance,
        variables: VariableSource,
        on_moved: Moved,
    ) -> None:
        super().__init__(drawer)
        self._host = host
        self._server = server
        self._entrance = entrance
        self._variables = variables
        self._on_moved = on_moved
        self._items: dict[UUID, EndpointItem] = {}

    @property
    def standings(self) -> Mapping[UUID, tuple[EndpointItem | None, EndpointStanding]]:
        """How each endpoint stands; without its item while that waits for the servers."""
        return {key: (self._items.get(key), book.status) for key, book in self._books.items()}

    def book(self, key: UUID, kept: Kept | None) -> EndpointBook:
        return EndpointBook(self._drawer, key, kept, self._on_moved)

    async def ended_before(self, book: EndpointBook) -> None:
        if book.status.status is not Status.NEW:
            await book.note(moved(book.status, Status.NEW, self._drawer.clock.now(), "the agent ended"))

    async def forget(self, book: EndpointBook) -> None:
        self._items.pop(book.key, None)
        await book.forget(book.status)
        self._on_moved()

    async def run(self, body: EndpointItem, book: EndpointBook) -> None:
        self._items[book.key] = body
        await self._begin(body, book)
        life = EndpointLife(body.name, body.route, book, self._host, self._drawer.clock)
        served = ServedEndpoint(self._server, self._entrance, life)

        async def prepare() -> Launch:
            await served.open()
            return await self._launch(body)

        try:
            await life.serve(prepare)
            await asyncio.get_running_loop().create_future()
        finally:
            served.close()

    async def _begin(self, body: EndpointItem, book: EndpointBook) -> None:
        standing = book.status
        if standing.status is not Status.NEW:
            standing = moved(standing, Status.CHANGED, self._drawer.clock.now())
        standing = msgspec.structs.replace(standing, route=body.route, configuration=body.shown, schema=None)
        if standing != book.status:
            await book.note(standing)

    async def _launch(self, body: EndpointItem) -> Launch:
        """Raises Invalid for a configuration that does not fit, Unavailable when variables cannot be asked for."""
        secrets, schema = Secrets(), ConfigurationSchema(body.schema)
        configuration = configuration_object(body.configuration)
        values = await self._variables.values(names_in(configuration))
        ready = filled(schema.document, configuration, values, secrets)
        schema.check(ready, "Configuration")
        package = Package(body.package.name, body.package.version)
        return Launch(package, body.package.digest, body.api_name, body.api_version, ready, secrets)
