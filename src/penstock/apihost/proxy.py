"""Requests passed on to the process of an API, and its answers back, both as streams."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from penstock.kernel.errors import PenstockError, TooLarge

Headers = Sequence[tuple[str, str]]

_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers of one connection (RFC 9110, 7.6.1), which are not passed on."""
_CONNECTIONS = 256


class Unreached(PenstockError):
    """The process does not take the request, or breaks off before it answers."""

    code = "bad-gateway"
    title = "The API did not answer properly"


class TooSlow(PenstockError):
    """The process did not begin to answer in time."""

    code = "gateway-timeout"
    title = "The API did not answer in time"


@dataclass(frozen=True)
class Forwarded:
    """A request to be passed on. path: percent-encoded, below the route. client: its address; scheme: as it came."""

    method: str
    path: str
    query: str
    headers: Headers
    body: AsyncIterator[bytes] | None
    client: str = ""
    scheme: str = "http"


@dataclass(frozen=True)
class Answered:
    """The answer. pieces: of the body, as they come; they raise Unreached when the process breaks off."""

    status: int
    headers: Headers
    pieces: AsyncIterator[bytes]


class Proxy:
    """To one socket, within `async with`. patience: seconds until an answer begins. most: bytes of a request's body."""

    def __init__(self, socket: Path, patience: float, most: int) -> None:
        self._socket = socket
        self._patience = patience
        self._most = most
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.UnixConnector(path=str(self._socket), limit=_CONNECTIONS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=5),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    @asynccontextmanager
    async def forward(self, request: Forwarded) -> AsyncIterator[Answered]:
        """Raises Unreached, TooSlow, TooLarge before there is an answer."""
        response = await self._sent(request)
        try:
            yield Answered(response.status, _kept(response.headers.items()), _pieces(response))
        finally:
            response.close()

    async def get(self, path: str, most: int) -> tuple[int, bytes]:
        """Status and body of a page of the application itself. Raises Unreached, TooSlow, also for a longer one."""
        async with self.forward(Forwarded("GET", path, "", [("Host", "localhost")], None)) as answered:
            body = bytearray()
            async for piece in answered.pieces:
                body += piece
                if len(body) > most:
                    raise Unreached(f"{path} has more than {most} bytes")
            return answered.status, bytes(body)

    async def _sent(self, request: Forwarded) -> aiohttp.ClientResponse:
        headers = CIMultiDict(_kept(request.headers))
        if request.client:
            headers["X-Forwarded-For"] = request.client
            headers["X-Forwarded-Proto"] = request.scheme
        address = URL(f"http://localhost{request.path}{'?' if request.query else ''}{request.query}", encoded=True)
        body = _Bounded(request.body, self._most) if request.body is not None else None
        call = self._session.request(request.method, address, headers=headers, data=body, allow_redirects=False)
        try:
            async with asyncio.timeout(self._patience):
                return await call
        except TimeoutError:
            raise TooSlow from None
        except (aiohttp.ClientError, OSError) as error:
            if body is not None and body.exceeded:
                raise TooLarge(f"the body has more than {self._most} bytes") from None
            raise Unreached(f"The API did not take the request: {type(error).__name__}") from None


class _Bounded:
    """Pieces of a body, up to so many bytes in all."""

    def __init__(self, pieces: AsyncIterator[bytes], most: int) -> None:
        self._pieces = pieces
        self._left = most

    @property
    def exceeded(self) -> bool:
        return self._left < 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            self._left -= len(piece)
            if self.exceeded:
                raise ConnectionError
            yield piece


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as error:
        raise Unreached(f"The API broke off its answer: {type(error).__name__}") from None


def _kept(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are passed on: none of the connection, nor those that it names."""
    given = list(headers)
    named = {word.strip().lower() for name, value in given if name.lower() == "connection" for word in value.split(",")}
    return [(name, value) for name, value in given if name.lower() not in _HOP_BY_HOP | named]
