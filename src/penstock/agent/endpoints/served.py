"""An endpoint on the agent's HTTP server: requests passed on as they come, answers as they go."""

from collections.abc import AsyncIterator

from aiohttp import web
from multidict import CIMultiDict

from penstock.apihost.entrance import KEY_HEADER, Entrance
from penstock.apihost.life import EndpointLife
from penstock.apihost.proxy import Answered, Forwarded, TooSlow, Unreached
from penstock.flow.http.http_server import HttpServer, ServedPath, ServerRequest, problem
from penstock.kernel.errors import TooLarge

_KEY = KEY_HEADER.lower().encode()
_RETRY = {"Retry-After": "5"}


class ServedEndpoint:
    """life: of the endpoint; while it has no process, callers get 503."""

    def __init__(self, server: HttpServer, entrance: Entrance, life: EndpointLife) -> None:
        self._server = server
        self._entrance = entrance
        self._life = life
        self._path = ServedPath(
            life.route, frozenset(), True, (life.name, self), self._answer, noun="endpoint", streams=True
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

    async def _answer(self, request: ServerRequest) -> web.StreamResponse:
        below = request.web.rel_url.raw_path.removeprefix(self._life.route)
        if below and not below.startswith("/"):
            return problem(404, f"Nothing is served at {request.web.path}")
        if not self._entrance.admits(request.web.headers.get(KEY_HEADER)):
            return problem(401, f"The header {KEY_HEADER} must hold the key of this agent's endpoints", close=True)
        if request.web.headers.get("Upgrade", "").lower() == "websocket":
            return problem(501, "WebSockets are not passed on", close=True)
        if self._life.proxy is None:
            return problem(503, f"The endpoint '{self._life.name}' is {self._life.status}", _RETRY, close=True)
        try:
            async with self._life.proxy.forward(_forwarded(request.web, below or "/")) as answered:
                return await _sent(answered, request.web)
        except TooLarge as error:
            return problem(413, error.detail, close=True)
        except TooSlow as error:
            return problem(504, error.detail, close=True)
        except Unreached as error:
            return problem(502, error.detail, close=True)


def _forwarded(request: web.BaseRequest, path: str) -> Forwarded:
    headers = [header for header in request.raw_headers if header[0].lower() != _KEY]
    return Forwarded(
        method=request.method,
        path=path,
        query=request.rel_url.raw_query_string,
        headers=headers,
        body=_pieces(request) if request.body_exists else None,
        client=request.remote or "",
        scheme=request.scheme,
    )


async def _pieces(request: web.BaseRequest) -> AsyncIterator[bytes]:
    async for piece in request.content.iter_any():
        yield piece


async def _sent(answered: Answered, request: web.BaseRequest) -> web.StreamResponse:
    """The answer, sent. One that breaks off must not look whole: then the connection is cut."""
    headers = CIMultiDict((_text(name), _text(value)) for name, value in answered.headers)
    if answered.whole is not None and request.method != "HEAD":
        return web.Response(status=answered.status, headers=headers, body=answered.whole)
    response = web.StreamResponse(status=answered.status, headers=headers)
    await response.prepare(request)
    try:
        async for piece in answered.pieces:
            await response.write(piece)
    except Unreached:
        if request.transport is not None:
            request.transport.abort()
        return response
    await response.write_eof()
    return response


def _text(header: bytes) -> str:
    return header.decode("utf-8", "replace")
