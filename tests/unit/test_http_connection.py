"""Connections that are held without a request, on a real socket."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from penstock.server import http_connection
from penstock.server.http import HttpServer, http_server, listening_socket
from penstock.server.settings import server_settings

ASKING = b"GET / HTTP/1.1\r\nHost: here\r\n"


async def answering(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """Of a server that has little patience."""
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(http_connection, "BODY_SECONDS", 0.1)
    settings = server_settings({"PENSTOCK_PORT": "0"})
    with listening_socket(settings) as listener:
        server: HttpServer = http_server(answering, settings)
        serving = asyncio.create_task(server.serve([listener]))
        yield listener.getsockname()[1]
        server.should_exit = True
        await serving


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """All that comes until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0)
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b"", id="nothing is sent"),
        pytest.param(ASKING, id="the head is not finished"),
        pytest.param(ASKING + b"Content-Length: 10\r\n\r\nhalf", id="the body is not finished"),
    ],
)
async def test_a_connection_that_waits_for_the_rest_of_a_request_is_closed(port: int, piece: bytes) -> None:
    assert await answer_to(port, piece) == b""


@pytest.mark.parametrize("rest", [b"X-Long: " + b"x" * 2**20, b"X-Many: x\r\n" * 2**17])
async def test_a_head_that_never_ends_is_refused(port: int, rest: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 60.0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(ASKING)
    writer.write(rest)
    assert (await reader.readline()).startswith(b"HTTP/1.1 431")
    writer.close()


async def test_a_request_that_is_whole_gets_its_answer(port: int) -> None:
    answer = await answer_to(port, ASKING, b"Content-Length: 4\r\nConnection: close\r\n\r\n", b"body")
    assert answer.startswith(b"HTTP/1.1 204")
