"""One HTTP/1.1 connection to the process of an API, one exchange after another."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import cast

import httptools

from penstock.kernel.errors import PenstockError, TooLarge

Headers = Sequence[tuple[bytes, bytes]]

_MUCH = 256 * 1024  # bytes of an answer that wait to be passed on; then the process has to


class Unreached(PenstockError):
    """The process does not take the request, or breaks off."""

    code = "bad-gateway"
    title = "The API did not answer properly"


class Connection(asyncio.Protocol):
    """Its life is the pool's matter: `reusable` says whether another exchange may follow.

    status, headers, complete: of the answer, once `head` is done.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost = False
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._waiter: asyncio.Future[None] | None = None
        self._bodiless = self._has_head = self._keeps_alive = self._paused = False
        self._complete = True

    # What the exchange does.

    def begin(self, method: bytes, head: bytes) -> None:
        """Sends the head of a request."""
        self._begin(method)
        self._transport.write(head)

    async def send(self, pieces: AsyncIterator[bytes], most: int, *, chunked: bool) -> None:
        """Sends the request's body. Raises TooLarge for one of more bytes, and what `pieces` raises."""
        left = most
        async for piece in pieces:
            left -= len(piece)
            if left < 0:
                raise TooLarge(f"the body has more than {most} bytes")
            if piece:
                self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            await self._writable.wait()
            if self._lost:
                return  # told by the answer that does not come
        if chunked:
            self._transport.write(b"0\r\n\r\n")

    async def head(self) -> None:
        """Returns once status and headers have come. Raises Unreached."""
        while not self._has_head:
            await self._next()

    def whole(self) -> bytes | None:
        """The body, when all of it has come and nothing was taken yet; None otherwise."""
        return b"".join(self._pieces) if self._complete else None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Unreached when it breaks off."""
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._waiting -= len(piece)
                if self._paused and self._waiting < _MUCH:
                    self._paused = False
                    self._transport.resume_reading()
                yield piece
            if self._complete:
                return
            await self._next()

    @property
    def complete(self) -> bool:
        """Whether the answer has come whole."""
        return self._complete

    @property
    def reusable(self) -> bool:
        return (
            self._complete
            and self._keeps_alive
            and not self._paused
            and not self._lost
            and not self._transport.is_closing()
        )

    def abort(self) -> None:
        self._transport.abort()

    # What asyncio says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.abort()
            self._lost = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._writable.set()
        self._wake()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What the parser says.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:  # the answer proper is yet to come
            self.headers = []
            return
        self._has_head = True
        if self._bodiless:
            # The parser waits for the body that the headers speak of; the connection is of no more use.
            self._complete = True

    def on_body(self, data: bytes) -> None:
        if self._complete:
            return
        self._pieces.append(data)
        self._waiting += len(data)
        if self._waiting >= _MUCH and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._has_head:
            self._complete = True
            self._keeps_alive = self._parser.should_keep_alive() and not self._bodiless

    def _begin(self, method: bytes) -> None:
        self.status, self.headers = 0, []
        self._bodiless = method == b"HEAD"
        self._has_head = self._complete = self._keeps_alive = False
        self._pieces.clear()
        self._waiting = 0

    async def _next(self) -> None:
        """Waits until something has come."""
        if self._lost:
            raise Unreached("The API broke off its answer" if self._has_head else "The API broke off before its answer")
        self._waiter = self._loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
