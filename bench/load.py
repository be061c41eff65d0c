"""A load generator that costs little: prepared requests over raw keep-alive connections."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

_HEADER_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Load:
    """What one run measured."""

    requests: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """One HTTP/1.1 request as it goes over the connection."""
    lines = [f"{method} {path} HTTP/1.1", "host: bench", *(f"{name}: {value}" for name, value in headers.items())]
    if body or method != "GET":
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode() + _HEADER_END + body


async def apply_load(port: int, request: bytes | Callable[[], bytes], connections: int, seconds: float) -> Load:
    """Sends the request, or what it returns, over and over on each connection.

    Raises RuntimeError on an answer that is no 2xx.
    """
    deadline = time.perf_counter() + seconds
    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        following = request if callable(request) else lambda: request
        tasks = [group.create_task(_connection(port, following, deadline)) for _ in range(connections)]
    return Load(sum(task.result() for task in tasks), time.perf_counter() - started)


async def _connection(port: int, following: Callable[[], bytes], deadline: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    try:
        while time.perf_counter() < deadline:
            writer.write(following())
            await answer_of(reader)
            count += 1
    finally:
        writer.close()
    return count


async def answer_of(reader: asyncio.StreamReader) -> None:
    """Reads one answer. Raises RuntimeError when it is no 2xx."""
    head = await reader.readuntil(_HEADER_END)
    if not head.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(head.decode())
    length = head.lower().split(b"content-length: ", 1)[1].split(b"\r", 1)[0]
    await reader.readexactly(int(length))
