"""A load generator that costs little: prepared requests over raw keep-alive connections."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_HEADER_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Load:
    """What one run measured. latencies: seconds, rising. failures: answers that are no 2xx, and what else happened."""

    requests: int
    seconds: float
    latencies: Sequence[float] = ()
    failures: Sequence[str] = ()

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    def percentile(self, percent: float) -> float:
        """Seconds."""
        return self.latencies[min(int(len(self.latencies) * percent / 100), len(self.latencies) - 1)]


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """One HTTP/1.1 request as it goes over the connection."""
    lines = [f"{method} {path} HTTP/1.1", "host: bench", *(f"{name}: {value}" for name, value in headers.items())]
    if body or method != "GET":
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode() + _HEADER_END + body


async def apply_load(
    port: int, request: bytes | Callable[[], bytes], connections: int, seconds: float, *, tolerant: bool = False
) -> Load:
    """Sends the request, or what it returns, over and over on each connection.

    Raises RuntimeError on an answer that is no 2xx, or a connection that is cut; tolerant: these are counted.
    """
    started = time.perf_counter()
    following = request if callable(request) else lambda: request
    loop = asyncio.get_running_loop()
    callers = [_Caller(following, started + seconds) for _ in range(connections)]
    for caller in callers:
        await loop.create_connection(lambda caller=caller: caller, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*(caller.ended for caller in callers))
    failures = [failure for caller in callers for failure in caller.failures]
    if failures and not tolerant:
        raise RuntimeError(failures[0])
    latencies = sorted(latency for caller in callers for latency in caller.latencies)
    return Load(len(latencies), time.perf_counter() - started, latencies, failures)


class _Caller(asyncio.Protocol):
    """A connection: one request after the other, since what is measured answers so."""

    def __init__(self, following: Callable[[], bytes], deadline: float) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.latencies: list[float] = []
        self.failures: list[str] = []
        self._following = following
        self._deadline = deadline
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._answer = self._answer + data if self._answer else data
        end = self._answer.find(_HEADER_END)
        if end < 0 or len(self._answer) < end + len(_HEADER_END) + _length(self._answer[:end]):
            return
        now = time.perf_counter()
        self.latencies.append(now - self._sent)
        if not self._answer.startswith(b"HTTP/1.1 2"):
            self.failures.append(self._answer.decode())
        self._answer = b""
        if now < self._deadline:
            self._send()
        else:
            self.ended.set_result(None)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.failures.append(f"the connection was cut: {error}")
            self.ended.set_result(None)

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._following())


def _length(head: bytes) -> int:
    """Of the body."""
    return int(head.lower().split(b"content-length: ", 1)[1].split(b"\r", 1)[0])


async def answer_of(reader: asyncio.StreamReader) -> None:
    """Reads one answer. Raises RuntimeError when it is no 2xx."""
    head = await reader.readuntil(_HEADER_END)
    if not head.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(head.decode())
    await reader.readexactly(_length(head.removesuffix(_HEADER_END)))
