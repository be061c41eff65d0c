"""An HTTP server that costs little: takes events, and reports when they came. `python -m bench.sink PORT`

Events carry as data the monotonic clock, in nanoseconds, of when they were published; all processes of a machine share
that clock.
"""

import asyncio
import sys
import time

import msgspec
import uvloop

_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
_HEADER_END = b"\r\n\r\n"


class _Event(msgspec.Struct):
    data: int


class Report(msgspec.Struct):
    """latencies: nanoseconds from publish to arrival. last: when the last event came."""

    latencies: list[int]
    last: int


_event = msgspec.json.Decoder(_Event)
_latencies: list[int] = []
_last = 0


class Sink(asyncio.Protocol):
    def __init__(self) -> None:
        self._rest = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while (end := self._rest.find(_HEADER_END)) >= 0:
            head = self._rest[:end].lower()
            _, _, length = head.partition(b"content-length: ")
            size = int(length.split(b"\r", 1)[0] or b"0")
            whole = end + len(_HEADER_END) + size
            if len(self._rest) < whole:
                return
            self._answer(head, self._rest[whole - size : whole])
            self._rest = self._rest[whole:]

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"post"):
            _take(body)
            self._transport.write(_ANSWER)
            return
        report = msgspec.json.encode(Report(_latencies, _last))
        if head.startswith(b"delete"):
            _latencies.clear()
        self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(report) + report)


def _take(body: bytes) -> None:
    global _last
    _last = time.monotonic_ns()
    _latencies.append(_last - _event.decode(body).data)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
