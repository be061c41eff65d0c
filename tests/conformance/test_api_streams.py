"""WebSockets, and streams that one side takes more slowly than the other sends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from penstock.apihost.proxy import Proxy
from tests.conformance.api_front import OK, Caller, World, fronted, request

UPGRADE = request(headers="Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n")
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-x: 1\r\n\r\n"
MUCH = 64 * 1024 * 1024
BOUND = 24 * 1024 * 1024  # what may lie in the buffers of four sockets and two processes

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(folder: Path, serve: Serve) -> AsyncIterator[World]:
    """A world whose process does as `serve` with each of its connections."""
    process = await asyncio.start_unix_server(serve, folder / "own")
    async with process, fronted(folder) as world, Proxy(folder / "own", 5, 2 * MUCH) as proxy:
        world.front.proxy = proxy
        yield world


async def opened(world: World, answer: bytes = b"") -> Caller:
    """A WebSocket, once the process has accepted it."""
    caller = await world.caller()
    caller.writer.write(UPGRADE)
    head = await caller.head()
    assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\nsec-x: 1\r\n")
    assert b"connection: Upgrade\r\nupgrade: websocket\r\n" in head
    return caller


async def stopped(count: Callable[[], int]) -> int:
    """The count, once it has come to a stop."""
    before = -1
    while before != count():
        before = count()
        await asyncio.sleep(0.1)
    return before


async def pour(writer: asyncio.StreamWriter, sent: list[int]) -> None:
    for _ in range(MUCH // 65536):
        writer.write(b"z" * 65536)
        await writer.drain()
        sent.append(65536)


async def test_both_sides_of_a_websocket_say_what_they_like(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"connection: Upgrade\r\nupgrade: websocket\r\n" in head
        assert b"sec-websocket-key: k" in head
        writer.write(SWITCHED + b"first")
        while data := await reader.read(100):
            writer.write(data.upper())
        writer.close()

    async with served(tmp_path, echo) as world:
        caller = await opened(world)
        assert await caller.reader.readexactly(5) == b"first"
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"\0\xff"):
            caller.writer.write(said)
            assert await caller.reader.readexactly(len(said)) == said.upper()


async def test_a_websocket_ends_for_both_when_either_ends(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCHED)
        if await reader.read(100):
            writer.write(b"farewell")
        writer.close()
        ended.set()

    async with served(tmp_path, talk) as world:
        first = await opened(world)
        first.writer.write(b"end")
        assert await first.reader.read() == b"farewell"
        ended.clear()
        second = await opened(world)
        second.writer.close()
        await ended.wait()


async def test_a_websocket_that_the_api_refuses_is_answered(tmp_path: Path) -> None:
    async with fronted(tmp_path, b"HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno", OK) as world:
        caller = await world.caller()
        status, _, body = await caller.ask(UPGRADE)
        assert (status, body) == (403, b"no")
        assert (await caller.ask(request()))[2] == b"ok"


async def test_an_upgrade_to_anything_else_is_an_ordinary_request(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        assert (await caller.ask(request(headers="Connection: Upgrade\r\nUpgrade: h2c\r\n")))[2] == b"ok"
        assert b"upgrade" not in world.api.requests[0].lower()


async def test_who_sends_faster_into_a_websocket_than_the_other_takes_has_to_wait(tmp_path: Path) -> None:
    from_api: list[int] = []
    go_on = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCHED)
        await pour(writer, from_api)
        await go_on.wait()
        left = MUCH
        while left:
            left -= len(await reader.read(65536))
        writer.write(b"all")
        writer.close()

    async with served(tmp_path, flood) as world, asyncio.TaskGroup() as group:
        caller = await opened(world)
        assert await stopped(lambda: sum(from_api)) < BOUND
        assert len(await caller.reader.readexactly(MUCH)) == MUCH
        from_caller: list[int] = []
        group.create_task(pour(caller.writer, from_caller))
        assert await stopped(lambda: sum(from_caller)) < BOUND
        go_on.set()
        assert await caller.reader.read() == b"all"


async def test_an_answer_that_nobody_takes_makes_the_process_wait(tmp_path: Path) -> None:
    sent: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % MUCH)
        await pour(writer, sent)
        writer.close()

    async with served(tmp_path, answer) as world:
        caller = await world.caller()
        caller.writer.write(request())
        await caller.head()
        assert await stopped(lambda: sum(sent)) < BOUND
        assert len(await caller.reader.readexactly(MUCH)) == MUCH


async def test_a_body_that_the_process_does_not_take_makes_the_caller_wait(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def hesitate(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await go_on.wait()
        await reader.readexactly(MUCH)
        writer.write(OK)
        writer.close()

    async with served(tmp_path, hesitate) as world, asyncio.TaskGroup() as group:
        caller = await world.caller()
        caller.writer.write(request("POST", headers=f"Content-Length: {MUCH}\r\n"))
        sent: list[int] = []
        group.create_task(pour(caller.writer, sent))
        assert await stopped(lambda: sum(sent)) < BOUND
        go_on.set()
        assert (await caller.answer())[2] == b"ok"


async def test_who_asks_on_and_takes_no_answer_is_not_answered_on(tmp_path: Path) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                asked.append(await reader.readuntil(b"\r\n\r\n"))
            except asyncio.IncompleteReadError:
                return writer.close()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" + b"z" * 1_000_000)

    async with served(tmp_path, answer) as world:
        caller = await world.caller()
        caller.writer.write(request() * 100)
        assert await stopped(lambda: len(asked)) < 30
        for _ in range(100):
            assert len((await caller.answer())[2]) == 1_000_000
