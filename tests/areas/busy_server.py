"""An HTTP server for tests that is slow, to see whether requests overlap."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Busy:
    """An HTTP server that takes its time, and counts the requests that it has in hand."""

    def __init__(self) -> None:
        self.at_once = self.most_at_once = self.answered = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(1.2)
        self.at_once -= 1
        self.answered += 1
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n%d" % (self.answered % 10))
        writer.close()


@asynccontextmanager
async def busy_server() -> AsyncIterator[Busy]:
    busy = Busy()
    server = await asyncio.start_server(busy.serve, "127.0.0.1", 0)
    busy.port = server.sockets[0].getsockname()[1]
    try:
        yield busy
    finally:
        server.close()
