"""A caller's connections to a front with one endpoint, whose process says exactly what each test has it say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from penstock.apihost.downstream import Destination, Downstream
from penstock.apihost.head import RequestHead
from penstock.apihost.proxy import Proxy
from penstock.apihost.refusal import Refusal

ROUTE = "/r"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Api:
    """Answers each request with the next of `answers`; an empty one ends the connection, None waits for ever."""

    def __init__(self, answers: list[bytes | None]) -> None:
        self.answers = answers
        self.requests: list[bytes] = []
        self.connections = 0
        self.lost = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                self.requests.append(await self._request(reader))
                answer = self.answers.pop(0)
                if answer is None:
                    await reader.read()
                writer.write(answer or b"")
                await writer.drain()
                if not answer:
                    break
            if not self.answers and self.requests:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.lost.set()
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        request = await reader.readuntil(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in request:
            request += await reader.readuntil(b"0\r\n\r\n")
        return request


class Beside(asyncio.Protocol):
    """The server beside: answers every request that it gets with what it got."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._got = b""

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, _, body = self._got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or b"0")
        if len(body) >= length:
            got, self._got = self._got, b""
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(got), got))
            asyncio.get_running_loop().call_soon(self._answered)

    def _answered(self) -> None:
        if not self._transport.is_closing():
            connection = self._transport.get_protocol()
            assert isinstance(connection, Downstream)
            connection.beside_answered()


class Front:
    """refused: instead of passing on."""

    def __init__(self, proxy: Proxy) -> None:
        self.connections: set[Downstream] = set()
        self.route = ROUTE
        self.proxy: Proxy | None = proxy
        self.refused: Refusal | None = None

    def at(self, head: RequestHead) -> Destination | None:
        return self if head.path.startswith(ROUTE.encode()) else None

    def caller(self, peer: str, head: RequestHead) -> tuple[str, str]:
        return "10.0.0.9", "https"

    def beside(self) -> asyncio.Protocol:
        return Beside()

    def refusal(self, head: RequestHead) -> Refusal | None:
        return self.refused


class Caller:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def answer(self) -> tuple[int, bytes, bytes]:
        """Status, head in small letters, and body of the next answer, which has a length or comes in chunks."""
        head = (await self.head()).lower()
        status = int(head.split(b" ")[1])
        if b"transfer-encoding: chunked" in head:
            return status, head, await self._chunks()
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return status, head, await self.reader.readexactly(int(length or b"0"))

    async def ask(self, request: bytes) -> tuple[int, bytes, bytes]:
        self.writer.write(request)
        return await self.answer()

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body


class World:
    """api: what the process is. front: what the caller reaches."""

    def __init__(self, api: Api, front: Front, port: int) -> None:
        self.api = api
        self.front = front
        self._port = port
        self._callers: list[Caller] = []

    async def caller(self) -> Caller:
        made = Caller(*await asyncio.open_connection("127.0.0.1", self._port))
        self._callers.append(made)
        return made

    def leave(self) -> None:
        for caller in self._callers:
            caller.writer.close()


@asynccontextmanager
async def fronted(folder: Path, *answers: bytes | None, patience: float = 5, most: int = 1000) -> AsyncIterator[World]:
    api = Api(list(answers))
    process = await asyncio.start_unix_server(api.serve, folder / "s")
    async with process, Proxy(folder / "s", patience, most) as proxy:
        front = Front(proxy)
        server = await asyncio.get_running_loop().create_server(lambda: Downstream(front), "127.0.0.1", 0)
        world = World(api, front, server.sockets[0].getsockname()[1])
        try:
            async with asyncio.timeout(20):
                yield world
        finally:
            world.leave()
            server.close()
            for connection in [*front.connections]:
                connection.abort()


def request(method: str = "GET", path: str = "/a%20b?q=1", headers: str = "", body: bytes = b"") -> bytes:
    """To the endpoint."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {ROUTE}{path} HTTP/1.1\r\nHost: x\r\n{headers}{length}\r\n".encode() + body
