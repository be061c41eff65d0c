"""The HTTP server that flows and endpoints of an agent share: who gets which path, and what nobody gets."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Protocol, Self, cast
from urllib.parse import quote, unquote

import msgspec
import structlog
from aiohttp import web

from penstock.kernel.errors import PenstockError

_PARAMETER = re.compile(r"\{([^/{}]+)\}")
_IN_FLIGHT = 1000  # requests that are being answered; more are refused, so that memory is bounded
_SHUTDOWN_SECONDS = 2.0
_FOR_EVER = 10 * 365 * 86400.0  # seconds
_log = structlog.get_logger(__name__)


class HttpServerFailed(PenstockError):
    """The address cannot be listened on, or somebody else has the path."""

    code = "http-server-failed"
    title = "The HTTP server cannot serve the path"


@dataclass(frozen=True)
class ServerRequest:
    """What a handler gets. parameters: of the path's template.

    body: whole, within the server's limit; empty for a path that streams, which reads it from `web`.
    """

    web: web.BaseRequest
    parameters: Mapping[str, str]
    body: bytes


Handle = Callable[[ServerRequest], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, eq=False)
class ServedPath:
    """One use of a path. owner: the flow's name, and something that only the same version of it has.

    methods: empty for all. prefix: whether longer paths are meant as well. noun: what the owner is.
    streams: the handler reads the body itself, and sends its answer.
    """

    path: str
    methods: frozenset[str]
    prefix: bool
    owner: tuple[str, object]
    handle: Handle
    noun: str = "flow"
    streams: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", _pattern(self.path, self.prefix))

    def clashes_with(self, other: "ServedPath") -> bool:
        """Whether both would have the same requests, and neither takes over from the other."""
        same_path = (_shape(self.path), self.prefix) == (_shape(other.path), other.prefix)
        same_method = not self.methods or not other.methods or self.methods & other.methods
        same_owner = (self.noun, self.owner[0]) == (other.noun, other.owner[0])
        takes_over = same_owner and self.owner[1] is not other.owner[1]
        return bool(same_path and same_method and not takes_over)

    def parameters(self, path: str) -> Mapping[str, str]:
        """Those in a path that it serves."""
        match = self.pattern.fullmatch(path)
        names = _PARAMETER.findall(self.path)
        return dict(zip(names, map(unquote, match.groups()), strict=False)) if match is not None else {}

    @property
    def rank(self) -> tuple[bool, int, int]:
        """More exact paths come first."""
        return self.prefix, len(_PARAMETER.findall(self.path)), -len(self.path)


class Sharing(Protocol):
    """Has the server's connections first, and leaves to the server the requests that it does not take."""

    def connection(self) -> asyncio.Protocol:
        """For one that was just accepted."""
        ...

    def answered(self, transport: asyncio.BaseTransport) -> None:
        """The request that was left to the server has its whole answer. transport: of the connection."""
        ...

    def close(self) -> None:
        """Ends all connections."""
        ...


Share = Callable[["HttpServer", Callable[[], asyncio.Protocol]], Sharing]
"""Called with the server, and with what makes the server's own part of a connection."""


class HttpServer:
    """Listens from the first path that is served, within `async with`.

    port: None when the server is switched off, 0 for a free one. most: bytes of a request's body.
    """

    def __init__(self, host: str, port: int | None, most: int, share: Share | None = None) -> None:
        self._host = host
        self._port = port
        self._most = most
        self._share = share
        self._sharing: Sharing | None = None
        self._paths: list[ServedPath] = []
        self._runner: web.ServerRunner | None = None
        self._opening = asyncio.Lock()
        self._in_flight = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._sharing is not None:
            self._sharing.close()

    @property
    def port(self) -> int | None:
        """The port that is listened on; None before the first path is served."""
        addresses = self._runner.addresses if self._runner is not None else []
        return int(addresses[0][1]) if addresses else None

    async def serve(self, path: ServedPath) -> None:
        """Hands the path's requests on, instead of a version of the same flow that has it now.

        Raises HttpServerFailed.
        """
        async with self._opening:
            if self._runner is None:
                self._runner = await self._listen()
        for other in self._paths:
            if path.clashes_with(other):
                methods = ", ".join(sorted(other.methods)) or "all methods"
                raise HttpServerFailed(f"{path.path} ({methods}) is served already, by {other.noun} '{other.owner[0]}'")
        self._paths.insert(0, path)
        self._paths.sort(key=lambda served: served.rank)

    def end(self, path: ServedPath) -> None:
        """The path's requests are not handed on any more; those that were are answered."""
        self._paths.remove(path)

    def owner_at(self, path: str, method: str) -> object | None:
        """What tells the version of the owner whose request it is; see ServedPath. path: as it came."""
        served, _ = self._find(path, method)
        return served.owner[1] if served is not None else None

    async def _listen(self) -> web.ServerRunner:
        if self._port is None:
            raise HttpServerFailed("there is no HTTP server here: PENSTOCK_AGENT_HTTP_PORT is 0")
        runner = web.ServerRunner(self._server(), shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise HttpServerFailed(
                f"cannot listen on {self._host} port {self._port}: {error.strerror or error}; "
                "PENSTOCK_AGENT_HTTP_PORT names another port"
            ) from None
        _log.info("serving HTTP", host=self._host, port=runner.addresses[0][1])
        return runner

    def _server(self) -> web.Server:
        if self._share is None:
            return web.Server(self._answer, access_log=None)
        # Idle connections are ended by whoever has them first.
        server = _SharedServer(self._answer_whole, access_log=None, keepalive_timeout=_FOR_EVER)
        server.sharing = self._sharing = self._share(self, server.own_part)
        return server

    async def _answer_whole(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = await self._answer(request)
        with suppress(ConnectionError):  # the caller has left
            await answer.prepare(request)
            await answer.write_eof()
        if self._sharing is not None and request.transport is not None:
            self._sharing.answered(request.transport)
        return answer

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._in_flight >= _IN_FLIGHT:
            return problem(503, "The agent answers as many requests as it can", {"Retry-After": "1"})
        self._in_flight += 1
        try:
            answer = await self._handled(request)
            answer.headers.setdefault("Server", "penstock")
            return answer
        finally:
            self._in_flight -= 1

    async def _handled(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.rel_url.raw_path
        served, allowed = self._find(path, request.method)
        if served is None:
            if not allowed:
                return problem(404, f"Nothing is served at {request.path}")
            methods = ", ".join(sorted(allowed))
            return problem(405, f"{request.path} takes {methods}", {"Allow": methods})
        body = await self._body(request) if not served.streams else b""
        if body is None:
            return problem(413, f"The body has more than {self._most} bytes", close=True)
        return await served.handle(ServerRequest(request, served.parameters(path), body))

    def _find(self, path: str, method: str) -> tuple[ServedPath | None, set[str]]:
        """Who serves the request; else the methods that the path takes."""
        allowed: set[str] = set()
        for served in self._paths:
            if served.pattern.fullmatch(path) is None:
                continue
            if not served.methods or method in served.methods:
                return served, allowed
            allowed |= served.methods
        return None, allowed

    async def _body(self, request: web.BaseRequest) -> bytes | None:
        """None when it is longer than allowed."""
        if (request.content_length or 0) > self._most:
            return None
        body = bytearray()
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > self._most:
                return None
        return bytes(body)


class _SharedServer(web.Server):
    sharing: Sharing

    def own_part(self) -> asyncio.Protocol:
        """What answers the requests that are left to the server, on one connection."""
        return super().__call__()

    def __call__(self) -> web.RequestHandler:
        return cast(web.RequestHandler, self.sharing.connection())


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, *, close: bool = False) -> web.Response:
    """A problem document (RFC 9457). close: the connection is of no more use."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    response = web.Response(
        status=status,
        body=msgspec.json.encode(document),
        headers={**(headers or {}), "Content-Type": "application/problem+json"},
    )
    if close:
        response.force_close()
    return response


def _pattern(path: str, prefix: bool) -> re.Pattern[str]:
    """What the whole path of a request must be, as it came, with a group for each parameter."""
    parts = [
        "([^/]+)" if index % 2 else re.escape(quote(part, safe="/:@!$&'()*+,;=~-._%"))
        for index, part in enumerate(_PARAMETER.split(path))
    ]
    return re.compile("".join(parts) + (".*" if prefix else "/?"), re.DOTALL)


def _shape(path: str) -> str:
    """The path with its parameters' names left out."""
    return _PARAMETER.sub("{}", path.rstrip("/"))
