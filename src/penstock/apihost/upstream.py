"""One HTTP/1.1 connection to the process of an API, one exchange after another."""

import asyncio
from collections.abc import Callable
from typing import Protocol, cast

import httptools

from penstock.apihost.head import Headers
from penstock.kernel.errors import PenstockError


class Unreached(PenstockError):
    """The process does not take the request, or breaks off."""

    code = "bad-gateway"
    title = "The API did not answer properly"


class Receiver(Protocol):
    """Sends one request and gets its answer: `attached`, `head`, any number of `piece`, then `end`.

    `broken` ends it at any time.
    """

    @property
    def sent(self) -> bool:
        """Whether the request is whole."""
        ...

    def attached(self, upstream: "Upstream") -> None:
        """The connection is this exchange's from now on, until `end` or `broken`."""
        ...

    def head(self, status: int, reason: bytes, headers: Headers) -> None: ...

    def piece(self, data: bytes) -> None: ...

    def flush(self) -> None:
        """Nothing more has come for now."""
        ...

    def end(self) -> None: ...

    def broken(self, reason: str) -> None: ...

    def hold(self) -> None:
        """The process takes no more of the request for now."""
        ...

    def go_on(self) -> None:
        """The process takes more of the request."""
        ...


class Upstream(asyncio.Protocol):
    """Between exchanges it is the pool's: on_free is called after an answer that another exchange may follow.

    on_lost: called once, when the connection has ended.
    """

    def __init__(self, on_free: "Callable[[Upstream], None]", on_lost: "Callable[[Upstream], None]") -> None:
        self._on_free = on_free
        self._on_lost = on_lost
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport
        self._receiver: Receiver | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._reason = b""
        self._bodiless = self._has_head = self._complete = self._keeps_alive = self._excess = self._raw = False

    @property
    def usable(self) -> bool:
        return not self._transport.is_closing()

    def begin(self, receiver: Receiver, request: bytes, *, bodiless: bool) -> None:
        """Sends the request, or its beginning. bodiless: its answer has no body, whatever its head says."""
        self._receiver = receiver
        self._bodiless = bodiless
        self._headers = []
        self._reason = b""
        self._has_head = self._complete = self._keeps_alive = False
        self._transport.write(request)

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def pause(self) -> None:
        """The answer is taken too slowly: the process has to wait."""
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def leave(self) -> None:
        """Nobody waits for the rest. What was sent to a WebSocket still goes out."""
        self._receiver = None
        if self._raw:
            self._transport.close()
        else:
            self._transport.abort()

    # What asyncio says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        receiver = self._receiver
        if receiver is None:  # an answer that nobody asked for
            self._transport.abort()
            return
        if self._raw:
            receiver.piece(data)
        else:
            self._read(data, receiver)
        if self._complete:
            self._finish(receiver)
        else:
            receiver.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        receiver, self._receiver = self._receiver, None
        self._on_lost(self)
        if receiver is not None:
            receiver.broken("The API broke off its answer" if self._has_head else "The API broke off before its answer")

    def pause_writing(self) -> None:
        if self._receiver is not None:
            self._receiver.hold()

    def resume_writing(self) -> None:
        if self._receiver is not None:
            self._receiver.go_on()

    # What the parser says.

    def on_message_begin(self) -> None:
        # Behind a whole answer there is nothing: who says more would speak to somebody else.
        self._excess = self._complete

    def on_status(self, reason: bytes) -> None:
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._excess:
            return
        status = self._parser.get_status_code()
        if status < 200 and status != 101:  # the answer proper is yet to come
            self._headers, self._reason = [], b""
            return
        self._has_head = True
        if self._receiver is not None:
            self._receiver.head(status, self._reason, self._headers)
        if self._bodiless:
            self._complete = True
            self._keeps_alive = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if self._receiver is not None and not self._complete:
            self._receiver.piece(data)

    def on_message_complete(self) -> None:
        if self._has_head and not self._bodiless and not self._excess and self._parser.get_status_code() != 101:
            self._complete = True
            self._keeps_alive = self._parser.should_keep_alive()

    def _read(self, data: bytes, receiver: Receiver) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgraded:
            self._raw = True
            if rest := data[upgraded.args[0] :]:
                receiver.piece(rest)
        except httptools.HttpParserError:
            self._transport.abort()

    def _finish(self, receiver: Receiver) -> None:
        again = receiver.sent and self._keeps_alive and not self._excess
        self._receiver = None
        self._complete = False
        if self._bodiless:  # it waits for the body that the headers speak of
            self._parser = httptools.HttpResponseParser(self)
        if not again:
            self._transport.abort()
        elif not self._transport.is_closing():
            self._transport.resume_reading()
            self._on_free(self)
        receiver.end()
