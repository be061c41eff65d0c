"""One HTTP connection, which nobody may hold or fill without a credential."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024  # bytes of request line and headers; one chunk more is read before it is noticed
HEAD_SECONDS = 20.0  # until a head is whole, from the connection or the head's first byte on
BODY_SECONDS = 60.0  # between two pieces of a body

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"  # RFC 6585
)


class HttpConnection(HttpToolsProtocol):
    """Refuses a head that is too large; `overdue` tells when a request comes too slowly. uvicorn bounds neither."""

    _deadline: float | None = None
    _in_head = True
    _head_bytes = 0

    def overdue(self, now: float) -> bool:
        """Whether the rest of a request has not come in time. now: of the event loop."""
        return self._deadline is not None and now > self._deadline and not self.flow.read_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.time() + HEAD_SECONDS

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self.transport.write(_TOO_LARGE)
                self.transport.close()
        elif self._deadline is not None:
            self._deadline = self.loop.time() + BODY_SECONDS

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        if self._deadline is None:
            self._deadline = self.loop.time() + HEAD_SECONDS

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._deadline = None
        super().on_message_complete()
