"""Requests passed on to the process of an API, and its answers back, both as streams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from penstock.apihost.connection import Connection, Headers, Unreached
from penstock.kernel.errors import PenstockError, TooLarge

__all__ = ["Answered", "Forwarded", "Headers", "Proxy", "TooSlow", "Unreached"]

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"expect",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers of one connection (RFC 9110, 7.6.1), which are not passed on."""
_OURS = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})
_CONNECTIONS = 256


class TooSlow(PenstockError):
    """The process did not begin to answer in time."""

    code = "gateway-timeout"
    title = "The API did not answer in time"


@dataclass(frozen=True)
class Forwarded:
    """A request to be passed on. path, query: as they came, the path below the route. client: its address.

    scheme: that it came by.
    """

    method: str
    path: str
    query: str
    headers: Headers
    body: AsyncIterator[bytes] | None
    client: str = ""
    scheme: str = "http"


class Answered:
    """The answer. whole: its body, when all of it is there already.

    pieces: of the body, as they come, instead; they raise Unreached when the process breaks off.
    """

    def __init__(self, connection: Connection) -> None:
        self.status = connection.status
        self.headers = _kept(connection.headers)
        self.whole = connection.whole()
        self._connection = connection

    @property
    def pieces(self) -> AsyncIterator[bytes]:
        return self._connection.pieces()


class Proxy:
    """To one socket, within `async with`. patience: seconds until an answer begins. most: bytes of a request's body."""

    def __init__(self, socket: Path, patience: float, most: int) -> None:
        self._socket = str(socket)
        self._patience = patience
        self._most = most
        self._idle: list[Connection] = []
        self._turns = asyncio.Semaphore(_CONNECTIONS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().abort()

    @asynccontextmanager
    async def forward(self, request: Forwarded) -> AsyncIterator[Answered]:
        """Raises Unreached, TooSlow, TooLarge before there is an answer."""
        async with self._turns:
            connection = await self._connection()
            sending: asyncio.Task[None] | None = None
            try:
                chunked = request.body is not None and not _has_length(request.headers)
                connection.begin(request.method.encode(), _head(request, chunked=chunked))
                if request.body is not None:
                    sending = asyncio.create_task(connection.send(request.body, self._most, chunked=chunked))
                await self._answer(connection, sending)
                yield Answered(connection)
            finally:
                await self._end(connection, sending)

    async def get(self, path: str, most: int) -> tuple[int, bytes]:
        """Status and body of a page of the application itself. Raises Unreached, TooSlow, also for a longer one."""
        async with self.forward(Forwarded("GET", path, "", [(b"host", b"localhost")], None)) as answered:
            body = bytearray()
            async for piece in answered.pieces:
                body += piece
                if len(body) > most:
                    raise Unreached(f"{path} has more than {most} bytes")
            return answered.status, bytes(body)

    async def _connection(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
        try:
            _, connection = await asyncio.get_running_loop().create_unix_connection(Connection, self._socket)
        except OSError as error:
            raise Unreached(f"The API did not take the request: {error.strerror or type(error).__name__}") from None
        return connection

    async def _answer(self, connection: Connection, sending: "asyncio.Task[None] | None") -> None:
        """Returns once the answer has begun, which may be before the request's body has ended."""
        head = asyncio.ensure_future(connection.head()) if sending is not None else None
        try:
            if head is not None and sending is not None:
                await asyncio.wait({head, sending}, return_when=asyncio.FIRST_COMPLETED)
                _check_sent(sending)
            async with asyncio.timeout(self._patience):
                await (head or connection.head())
        except TimeoutError:
            raise TooSlow from None
        finally:
            if head is not None:
                head.cancel()

    async def _end(self, connection: Connection, sending: "asyncio.Task[None] | None") -> None:
        sent = sending is None or sending.done()
        if sending is not None:
            sending.cancel()
            await asyncio.wait({sending})
            sent = sent and not sending.cancelled() and sending.exception() is None
        if sent and connection.reusable:
            self._idle.append(connection)
        else:
            connection.abort()


def _check_sent(sending: "asyncio.Task[None]") -> None:
    """Raises TooLarge, and Unreached for a body that broke off."""
    if not sending.done():
        return
    with suppress(asyncio.CancelledError):
        error = sending.exception()
        if isinstance(error, TooLarge):
            raise error
        if error is not None:
            raise Unreached("The request broke off")


def _head(request: Forwarded, *, chunked: bool) -> bytes:
    target = f"{request.path}{'?' if request.query else ''}{request.query}"
    headers = [each for each in _kept(request.headers) if each[0].lower() not in _OURS]
    if request.client:
        headers += [(b"x-forwarded-for", request.client.encode()), (b"x-forwarded-proto", request.scheme.encode())]
    if chunked:
        headers.append((b"transfer-encoding", b"chunked"))
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (request.method.encode(), target.encode("ascii", "replace"), lines)


def _has_length(headers: Headers) -> bool:
    return any(name.lower() == b"content-length" for name, _ in headers)


def _kept(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers that are passed on: none of the connection, nor those that it names."""
    dropped = _HOP_BY_HOP
    for name, value in headers:
        if name.lower() == b"connection":
            dropped = dropped | {word.strip().lower() for word in value.split(b",")}
    return [header for header in headers if header[0].lower() not in dropped]
