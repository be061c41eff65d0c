"""An endpoint on the agent's HTTP server."""

from aiohttp import web

from penstock.apihost.entrance import KEY_HEADER, Entrance
from penstock.apihost.head import RequestHead
from penstock.apihost.life import EndpointLife
from penstock.apihost.proxy import Proxy
from penstock.apihost.refusal import Refusal
from penstock.flow.http.http_server import HttpServer, ServedPath, ServerRequest, problem

_RETRY_SECONDS = 5


class ServedEndpoint:
    """A Destination. life: of the endpoint; while it has no process, callers get 503."""

    def __init__(self, server: HttpServer, entrance: Entrance, life: EndpointLife) -> None:
        self._server = server
        self._entrance = entrance
        self._life = life
        self._path = ServedPath(
            life.route, frozenset(), True, (life.name, self), self._elsewhere, noun="endpoint", streams=True
        )
        self._open = False

    async def open(self) -> None:
        """Takes the route, unless it has it. Raises HttpServerFailed, Forbidden."""
        self._entrance.check()
        if not self._open:
            await self._server.serve(self._path)
            self._open = True

    def close(self) -> None:
        if self._open:
            self._server.end(self._path)

    @property
    def route(self) -> str:
        return self._life.route

    @property
    def proxy(self) -> Proxy | None:
        return self._life.proxy

    def refusal(self, head: RequestHead) -> Refusal | None:
        """See Destination."""
        if not self._entrance.admits(head.key):
            return Refusal(401, f"The header {KEY_HEADER} must hold the key of this agent's endpoints")
        if self._life.proxy is None:
            return Refusal(503, f"The endpoint '{self._life.name}' is {self._life.status}", _RETRY_SECONDS)
        return None

    async def _elsewhere(self, request: ServerRequest) -> web.StreamResponse:
        """Requests get here only that share a route's beginning, or came unasked behind one for a flow."""
        below = request.web.rel_url.raw_path.removeprefix(self.route)
        if below and not below.startswith("/"):
            return problem(404, f"Nothing is served at {request.web.path}")
        return problem(421, "Send the request again, on a connection of its own", close=True)
