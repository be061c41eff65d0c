"""A caller's connection: requests for endpoints are passed on to their processes, all others to the server beside."""

import asyncio
from typing import Protocol, cast

import httptools

from penstock.apihost.exchange import Exchange
from penstock.apihost.head import RequestHead
from penstock.apihost.proxy import Proxy
from penstock.apihost.refusal import Refusal
from penstock.kernel.errors import Unavailable

_LARGEST_HEAD = 64 * 1024
_MUCH_AHEAD = 64 * 1024  # bytes of further requests while one is being answered; then the caller has to wait
_HEAD_SECONDS = 20.0  # until a head is whole, from its first byte on
_BODY_SECONDS = 60.0  # between two pieces of a body
_IDLE_SECONDS = 3630.0  # longer than proxies keep a connection that waits
_LINGER_SECONDS = 5.0  # for a body that nobody wants, so that its sender can read the answer
_STUCK_SECONDS = 120.0  # for a caller who takes nothing of an answer
_LOOK_SECONDS = 5.0
_HEAD_END = b"\r\n\r\n"
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


class Destination(Protocol):
    """An endpoint. route: what its paths begin with. proxy: leads to its process, if there is one."""

    @property
    def route(self) -> str: ...

    @property
    def proxy(self) -> Proxy | None: ...

    def refusal(self, head: RequestHead) -> Refusal | None:
        """Why the request is not passed on; None when it is, which needs a proxy."""
        ...


class Front(Protocol):
    """The server's side of all its connections."""

    @property
    def connections(self) -> "set[Downstream]": ...

    def at(self, head: RequestHead) -> Destination | None:
        """The endpoint that a request is for."""
        ...

    def caller(self, peer: str, head: RequestHead) -> tuple[str, str]:
        """Address of the caller, and the scheme that it used. peer: the connection's other side."""
        ...

    def beside(self) -> asyncio.Protocol:
        """What serves requests for no endpoint, on a connection that it shares.

        It gets one request at a time, and has `Downstream.beside_answered` called after each answer.
        """
        ...


class Downstream(asyncio.Protocol):
    """One request at a time; what comes ahead of its turn waits. `_take` is what is done with what comes."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._peer = ""
        self._parser = httptools.HttpRequestParser(self)
        self._take = self._take_head
        self._ahead = b""
        self._since = self._loop.time()
        self._slow_since = self._since
        self._look_again: asyncio.TimerHandle
        self._beside: asyncio.Protocol | None = None
        self._exchange: Exchange | None = None
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._method = b""
        self._version = ""
        self._asked_to_keep = True
        self._has_head = self._whole = self._in_body = self._overrun = False
        self._bodiless_answer = self._beside_done = self._held = self._slow = self._ending = False

    def shutdown(self) -> None:
        """Lets a request in progress be answered, and closes the connection."""
        self._ending = True
        if self._take == self._take_head:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    # What the exchange says: see Caller.

    @property
    def keeps_alive(self) -> bool:
        return self._asked_to_keep and self._whole and not self._overrun and not self._ending

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def hold(self) -> None:
        if not self._held and not self._transport.is_closing():
            self._held = True
            self._transport.pause_reading()

    def go_on(self) -> None:
        if self._held and not self._transport.is_closing():
            self._held = False
            self._since = self._loop.time()
            self._transport.resume_reading()

    def switched(self) -> None:
        assert self._exchange is not None
        self._take = self._exchange.body
        if ahead := self._taken_ahead():
            self._exchange.body(ahead)

    def refuse(self, refusal: Refusal) -> None:
        keeps_alive = self.keeps_alive
        self._transport.write(refusal.answer(close=not keeps_alive, bodiless=self._bodiless_answer))
        self.answered(keeps_alive=keeps_alive)

    def answered(self, *, keeps_alive: bool) -> None:
        self._exchange = None
        self.go_on()
        if keeps_alive and not self._overrun and not self._ending:
            self._next()
        elif self._whole or not self._transport.can_write_eof():
            self._transport.close()
        else:
            # Closed at once, the connection would take the answer with it: there is more that nobody reads.
            self._take = self._discard
            self._since = self._loop.time()
            self._transport.write_eof()

    def cut(self) -> None:
        self._exchange = None
        self._transport.abort()

    # What the server beside says.

    def beside_answered(self) -> None:
        """Its answer is whole, and the connection may be used again."""
        self._beside_done = True
        if self._take == self._take_for_beside and self._whole:
            self._next()

    # What asyncio says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self._peer = peer[0] if isinstance(peer, tuple) else ""
        self._front.connections.add(self)
        self._look_again = self._loop.call_later(_LOOK_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._front.connections.discard(self)
        self._look_again.cancel()
        if self._exchange is not None:
            self._exchange.left()
        if self._beside is not None:
            self._beside.connection_lost(exc)

    def pause_writing(self) -> None:
        self._slow = True
        self._slow_since = self._loop.time()
        if self._exchange is not None:
            self._exchange.slow_down()
        elif self._beside is not None:
            self._beside.pause_writing()

    def resume_writing(self) -> None:
        self._slow = False
        if self._exchange is not None:
            self._exchange.speed_up()
        elif self._take == self._take_ahead:
            self._loop.call_soon(self._take_next)
        if self._beside is not None:
            self._beside.resume_writing()

    # What the parser says.

    def on_message_begin(self) -> None:
        # Where the next request begins behind a body, nobody can tell who did not read it.
        self._overrun = self._in_body

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if not self._has_head:
            self._has_head = True
            self._method = self._parser.get_method()
            self._version = self._parser.get_http_version()
            self._asked_to_keep = self._version == "1.1" and self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if self._exchange is not None and not self._overrun:
            self._exchange.body(data)

    def on_message_complete(self) -> None:
        if not self._overrun:
            self._whole = True
            if self._exchange is not None:
                self._take = self._take_ahead
                self._exchange.body_end()

    # What is done with what comes.

    def _take_head(self, data: bytes) -> None:
        if self._ahead:
            data = self._ahead + data
        else:
            self._since = self._loop.time()
        end = data.find(_HEAD_END)
        size = len(data) if end < 0 else end + len(_HEAD_END)
        if size > _LARGEST_HEAD:
            self._refuse_unread(431, "The head of the request is too large")
        elif end < 0:
            self._ahead = data
        else:
            self._ahead = data[size:]
            self._begin(data[:size])

    def _take_body(self, data: bytes) -> None:
        self._since = self._loop.time()
        if not self._parsed(data) and self._exchange is not None:
            self._whole = False
            self._exchange.refuse(Refusal(400, "The body of the request cannot be read"))

    def _take_ahead(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) > _MUCH_AHEAD:
            self.hold()

    def _take_for_beside(self, data: bytes) -> None:
        assert self._beside is not None
        if self._whole:
            self._take_ahead(data)
            return
        if not self._parsed(data) or self._overrun:
            self._take = self._beside.data_received  # whose the rest is cannot be told any more
        elif self._whole and self._beside_done:
            self._next()
        self._beside.data_received(data)

    def _discard(self, data: bytes) -> None:
        """An answer was given; whatever else comes is not read."""

    def _begin(self, head: bytes) -> None:
        self._target, self._headers = b"", []
        self._has_head = self._whole = self._in_body = self._overrun = False
        if not self._parsed(head) or not self._has_head:
            self._refuse_unread(400, "The request cannot be read")
            return
        self._in_body = not self._whole
        request = self._request()
        destination = self._front.at(request) if request is not None else None
        if request is None or destination is None:
            self._hand_over(head)
        else:
            self._pass_on(request, destination)
        if not self._whole and (rest := self._taken_ahead()):
            self._take(rest)

    def _request(self) -> RequestHead | None:
        try:
            return RequestHead(self._method, self._target, self._headers, self._version)
        except ValueError:  # such as `OPTIONS *`
            return None

    def _pass_on(self, head: RequestHead, destination: Destination) -> None:
        self._bodiless_answer = head.method == b"HEAD"
        self._take = self._take_ahead if self._whole else self._take_body
        refusal = destination.refusal(head)
        proxy = destination.proxy
        if refusal is None and proxy is not None:
            refusal = self._unfit(head, proxy)
        if refusal is not None or proxy is None:
            self.refuse(refusal or Refusal(503, "The endpoint does not run", retry_after=5))
            return
        client, scheme = self._front.caller(self._peer, head)
        request = head.passed_on(len(destination.route.rstrip("/")), client, scheme)
        self._exchange = exchange = Exchange(self, head, request, proxy.patience, proxy.most)
        if head.asks_to_go_on and not self._whole:
            self._transport.write(_GO_ON)
        if self._whole:
            exchange.body_end()
        try:
            proxy.pass_on(exchange)
        except Unavailable as error:
            exchange.left()
            self.refuse(Refusal(503, error.detail, retry_after=1))

    def _unfit(self, head: RequestHead, proxy: Proxy) -> Refusal | None:
        if head.coding not in (b"", b"chunked"):
            return Refusal(501, "The transfer coding of the body is not understood")
        if head.length > proxy.most:
            return Refusal(413, f"the body has more than {proxy.most} bytes")
        return None

    def _hand_over(self, head: bytes) -> None:
        """The request is for no endpoint."""
        if self._beside is None:
            self._beside = self._front.beside()
            self._beside.connection_made(self._transport)
        self._take = self._take_for_beside
        self._beside_done = False
        self._beside.data_received(head)

    def _next(self) -> None:
        """On to the next request, once the caller has taken the answers."""
        self._since = self._loop.time()
        if not self._slow and not self._ahead:
            self._take = self._take_head
            return
        self._take = self._take_ahead
        if not self._slow:
            self._loop.call_soon(self._take_next)

    def _take_next(self) -> None:
        if self._take == self._take_ahead and self._exchange is None and not self._transport.is_closing():
            self.go_on()
            self._take = self._take_head
            if ahead := self._taken_ahead():
                self._take_head(ahead)

    def _taken_ahead(self) -> bytes:
        ahead, self._ahead = self._ahead, b""
        return ahead

    def _parsed(self, data: bytes) -> bool:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._whole, self._overrun = True, self._in_body
            self._parser = httptools.HttpRequestParser(self)
        except httptools.HttpParserError:
            return False
        return True

    def _refuse_unread(self, status: int, detail: str) -> None:
        self._whole = self._bodiless_answer = False
        self.refuse(Refusal(status, detail))

    def _look(self) -> None:
        """Ends what takes too long."""
        self._look_again = self._loop.call_later(_LOOK_SECONDS, self._look)
        patience = {
            self._take_head: _HEAD_SECONDS if self._ahead else _IDLE_SECONDS,
            self._take_body: _BODY_SECONDS if not self._held else None,
            self._discard: _LINGER_SECONDS,
        }.get(self._take)
        now = self._loop.time()
        if (patience is not None and now - self._since > patience) or (
            self._slow and now - self._slow_since > _STUCK_SECONDS
        ):
            self._transport.abort()
