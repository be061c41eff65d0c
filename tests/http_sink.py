"""A real HTTP server that takes events: in the test's process, or as a process of its own that can be killed.

    python -m tests.http_sink PORT FILE

appends the path, the `webhook-id` and the event's `id` of each request to FILE before it answers.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return msgspec.json.decode(self.body)


@dataclass(frozen=True)
class Reply:
    """pause: seconds before it is sent."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    pause: float = 0.0

    def encode(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Status", f"content-length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body


class HttpSink:
    """requests: what came. answer: says what to reply to a request; 204 to all unless set."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Reply] = lambda request: Reply()
        self.port = 0
        self.connections = 0
        self._arrived = asyncio.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/events"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [request.event for request in self.requests]

    async def received(self, count: int, seconds: float = 20) -> list[Request]:
        """The requests, once there are so many."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    def reply_in_turn(self, *replies: Reply) -> None:
        """One after the other; the last one for all that follow."""
        left = list(replies)
        self.answer = lambda request: left.pop(0) if len(left) > 1 else left[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                request = await _read(reader)
                async with self._arrived:
                    self.requests.append(request)
                    self._arrived.notify_all()
                reply = self.answer(request)
                await asyncio.sleep(reply.pause)
                writer.write(reply.encode())
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def http_sink(port: int = 0) -> AsyncIterator[HttpSink]:
    sink = HttpSink()
    server = await asyncio.start_server(sink.serve, "127.0.0.1", port, limit=16 << 20)
    sink.port = server.sockets[0].getsockname()[1]
    try:
        yield sink
    finally:
        server.close()
        # Not `wait_closed`: clients keep their connections open.


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def main(port: int, path: Path) -> None:
    with path.open("ab", buffering=0) as file:

        def record(request: Request) -> Reply:
            sink.requests.clear()
            file.write(f"{request.path} {request.headers['webhook-id']} {request.event['id']}\n".encode())
            return Reply()

        sink = HttpSink()
        sink.answer = record
        server = await asyncio.start_server(sink.serve, "127.0.0.1", port, reuse_address=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
