"""Requests passed on over a unix socket, to a server that says exactly what each test has it say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.apihost.proxy import Forwarded, Proxy, TooSlow, Unreached
from penstock.kernel.errors import TooLarge

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server:
    """Answers each request with the next of `answers`; an empty one ends the connection, None waits for ever."""

    def __init__(self, answers: list[bytes | None]) -> None:
        self.answers = answers
        self.requests: list[bytes] = []
        self.connections = 0

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
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        request = await reader.readuntil(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in request:
            request += await reader.readuntil(b"0\r\n\r\n")
        return request


@asynccontextmanager
async def proxied(folder: Path, *answers: bytes | None) -> AsyncIterator[tuple[Proxy, Server]]:
    told = Server(list(answers))
    server = await asyncio.start_unix_server(told.serve, folder / "s")
    async with server, Proxy(folder / "s", 0.2, 1000) as proxy:
        yield proxy, told


def request(method: str = "GET", body: AsyncIterator[bytes] | None = None) -> Forwarded:
    headers = [(b"Host", b"x"), (b"Connection", b"close, X-Own"), (b"X-Own", b"1"), (b"X-Kept", b"2")]
    return Forwarded(method, "/a%20b", "q=1", headers, body, client="10.0.0.9", scheme="https")


async def pieces(count: int, size: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"z" * size


async def whole(proxy: Proxy, forwarded: Forwarded) -> tuple[int, bytes]:
    async with proxy.forward(forwarded) as answered:
        return answered.status, b"".join([piece async for piece in answered.pieces])


async def test_what_belongs_to_the_connection_is_not_passed_on(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 200 OK\r\nconnection: x-hop\r\nx-hop: 1\r\nx-kept: 2\r\ncontent-length: 0\r\n\r\n"
    async with proxied(tmp_path, answer) as (proxy, server), proxy.forward(request()) as answered:
        assert [name for name, _ in answered.headers] == [b"x-kept", b"content-length"]
    head = server.requests[0].lower()
    assert head.startswith(b"get /a%20b?q=1 http/1.1\r\n")
    assert b"x-own" not in head
    assert b"x-kept: 2\r\nx-forwarded-for: 10.0.0.9\r\nx-forwarded-proto: https\r\n" in head


async def test_a_connection_is_used_again(tmp_path: Path) -> None:
    async with proxied(tmp_path, OK, OK, OK) as (proxy, server):
        for _ in range(3):
            assert await whole(proxy, request()) == (200, b"ok")
        assert server.connections == 1


async def test_a_connection_whose_answer_was_not_taken_whole_is_not(tmp_path: Path) -> None:
    endless = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun"
    async with proxied(tmp_path, endless, OK) as (proxy, server):
        async with proxy.forward(request()) as answered:
            assert answered.whole is None
        assert await whole(proxy, request()) == (200, b"ok")
        assert server.connections == 2


async def test_a_body_goes_in_pieces(tmp_path: Path) -> None:
    chunked = b"HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    async with proxied(tmp_path, chunked) as (proxy, server):
        assert await whole(proxy, request("POST", pieces(3, 10))) == (201, b"abcde")
        assert server.requests[0].count(b"a\r\nzzzzzzzzzz\r\n") == 3


async def test_an_answer_may_come_before_the_body_has_ended(tmp_path: Path) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"z"
        await asyncio.get_running_loop().create_future()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(refuse, tmp_path / "s")
    async with server, Proxy(tmp_path / "s", 5, 1000) as proxy, asyncio.timeout(10):
        assert await whole(proxy, request("POST", slow())) == (403, b"")


async def test_a_body_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with proxied(tmp_path, OK) as (proxy, _):
        with pytest.raises(TooLarge, match="1000 bytes"):
            await whole(proxy, request("POST", pieces(3, 400)))


async def test_a_body_that_breaks_off_is_not_taken_for_whole(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"z"
        raise ConnectionError

    async with proxied(tmp_path, OK) as (proxy, server):
        with pytest.raises(Unreached, match="The request broke off"):
            await whole(proxy, request("POST", broken()))
        assert server.requests == []


async def test_head_and_interim_answers_are_understood(tmp_path: Path) -> None:
    head = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"
    async with proxied(tmp_path, head, OK) as (proxy, _):
        async with proxy.forward(request("HEAD")) as answered:
            assert (answered.status, answered.whole, answered.headers) == (200, b"", [(b"content-length", b"50")])
        assert await whole(proxy, request()) == (200, b"ok")


Broken = tuple[bytes | None, type[Exception], str]
BROKEN: list[Broken] = [
    (b"", Unreached, "before its answer"),
    (b"this is not HTTP\r\n\r\n", Unreached, "before its answer"),
    (None, TooSlow, "in time"),
]


@pytest.mark.parametrize(("answer", "error", "reason"), BROKEN)
async def test_no_proper_answer_is_an_error(
    tmp_path: Path, answer: bytes | None, error: type[Exception], reason: str
) -> None:
    async with proxied(tmp_path, answer) as (proxy, _):
        with pytest.raises(error, match=reason):
            await whole(proxy, request())


async def test_an_answer_that_breaks_off_says_so(tmp_path: Path) -> None:
    # There is no further answer, so the server ends the connection behind this one.
    async with proxied(tmp_path, b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun") as (proxy, _):
        with pytest.raises(Unreached, match="broke off its answer"):
            await whole(proxy, request())


async def test_nobody_at_the_socket_is_an_error(tmp_path: Path) -> None:
    async with Proxy(tmp_path / "nothing", 1, 1000) as proxy:
        with pytest.raises(Unreached, match="No such file"):
            await whole(proxy, request())


async def test_an_answer_that_nobody_takes_makes_the_process_wait(tmp_path: Path) -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n")
        for _ in range(1024):
            writer.write(b"z" * 65536)
            await writer.drain()
            sent += 65536
        writer.close()

    server = await asyncio.start_unix_server(pour, tmp_path / "s")
    async with server, Proxy(tmp_path / "s", 5, 1000) as proxy, proxy.forward(request()) as answered:
        before = -1
        while before != sent:  # until it has come to a stop
            before = sent
            await asyncio.sleep(0.1)
        assert sent < 16 * 1024 * 1024
        size = 0
        async for piece in answered.pieces:
            size += len(piece)
        assert size == 64 * 1024 * 1024
