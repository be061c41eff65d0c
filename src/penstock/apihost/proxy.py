"""The connections to the process of one API: kept, shared out to requests, counted."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Self

from penstock.apihost.head import Headers
from penstock.apihost.upstream import Receiver, Unreached, Upstream
from penstock.kernel.errors import PenstockError, Unavailable

_CONNECTIONS = 1000  # at once, WebSockets included; so many files the process may have, and more
_IDLE = 128


class TooSlow(PenstockError):
    """The process did not begin to answer in time."""

    code = "gateway-timeout"
    title = "The API did not answer in time"


class Proxy:
    """To one socket, within `async with`. patience: seconds until an answer begins. most: bytes of a request's body.

    Exchanges under way when it is left go on for as long as the process does.
    """

    def __init__(self, socket: Path, patience: float, most: int) -> None:
        self.patience = patience
        self.most = most
        self._socket = str(socket)
        self._idle: list[Upstream] = []
        self._count = 0
        self._connecting: set[asyncio.Task[None]] = set()
        self._open = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open = False
        connecting = set(self._connecting)
        for task in connecting:
            task.cancel()
        if connecting:
            await asyncio.wait(connecting)
        while self._idle:
            self._idle.pop().leave()

    def pass_on(self, receiver: Receiver) -> None:
        """Attaches a connection, at once or a moment later. Raises Unavailable when all are in use."""
        if self._count >= _CONNECTIONS and not self._idle:
            raise Unavailable(f"the API has {_CONNECTIONS} requests in hand and takes no more")
        self._attach(receiver)

    async def get(self, path: str, most: int) -> tuple[int, bytes]:
        """Status and body of a page of the application itself. Raises Unreached, TooSlow, also for a longer one."""
        page = _Page(path, most)
        try:
            self._attach(page)
            async with asyncio.timeout(self.patience):
                return await page.whole
        except TimeoutError:
            raise TooSlow from None
        finally:
            page.leave()

    def _attach(self, receiver: Receiver) -> None:
        while self._idle:
            upstream = self._idle.pop()
            if upstream.usable:
                receiver.attached(upstream)
                return
        self._count += 1
        task = asyncio.get_running_loop().create_task(self._connect(receiver))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, receiver: Receiver) -> None:
        make = partial(Upstream, self._freed, self._lost)
        try:
            _, upstream = await asyncio.get_running_loop().create_unix_connection(make, self._socket)
        except OSError as error:
            self._count -= 1
            receiver.broken(f"The API did not take the request: {error.strerror or type(error).__name__}")
        except asyncio.CancelledError:
            self._count -= 1
            receiver.broken("The API has ended")
            raise
        else:
            receiver.attached(upstream)

    def _freed(self, upstream: Upstream) -> None:
        if self._open and len(self._idle) < _IDLE:
            self._idle.append(upstream)
        else:
            upstream.leave()

    def _lost(self, upstream: Upstream) -> None:
        self._count -= 1
        if upstream in self._idle:
            self._idle.remove(upstream)


class _Page:
    """A GET of the platform's own, whose answer is kept."""

    sent = True

    def __init__(self, path: str, most: int) -> None:
        self.whole: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self._path = path
        self._most = most
        self._status = 0
        self._body = bytearray()
        self._upstream: Upstream | None = None

    def attached(self, upstream: Upstream) -> None:
        if self.whole.done():
            upstream.leave()
            return
        self._upstream = upstream
        upstream.begin(self, b"GET %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % self._path.encode(), bodiless=False)

    def head(self, status: int, reason: bytes, headers: Headers) -> None:
        self._status = status

    def piece(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > self._most:
            self.broken(f"{self._path} has more than {self._most} bytes")
            self.leave()

    def end(self) -> None:
        self._upstream = None
        if not self.whole.done():
            self.whole.set_result((self._status, bytes(self._body)))

    def broken(self, reason: str) -> None:
        if not self.whole.done():
            self.whole.set_exception(Unreached(reason))

    def leave(self) -> None:
        """Waits no more."""
        self.whole.cancel()
        if self._upstream is not None:
            self._upstream.leave()
            self._upstream = None

    def flush(self) -> None:
        """Nothing is held back."""

    def hold(self) -> None:
        """There is no body."""

    def go_on(self) -> None:
        """There is no body."""
