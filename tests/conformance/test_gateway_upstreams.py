"""How a real Envoy connects to upstreams, and what callers get when these fail."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
import websockets

from penstock.protocol.gateway import Access, GatewayVersion
from tests.conformance.running_gateway import PATH, Served, host, served, version
from tests.http_sink import HttpSink, Reply, Request, http_sink
from tests.nats_server import free_port

OPEN = (Access.NONE,)


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("gateway") / "envoy") as running:
        yield running


@pytest.fixture
async def upstream() -> AsyncIterator[HttpSink]:
    async with http_sink() as sink:
        yield sink


async def ready(gateway: Served, *versions: GatewayVersion) -> None:
    await gateway.apply(list(versions), [])


async def test_compressed_answers_are_decompressed_where_the_connection_says_so(
    gateway: Served, upstream: HttpSink
) -> None:
    upstream.answer = lambda request: Reply(200, {"content-encoding": "gzip"}, gzip.compress(b"plain" * 100))

    await ready(gateway, version(upstream.port, access=OPEN, decompression=-1))
    async with gateway.client.stream("GET", PATH, headers={"Accept-Encoding": "deflate"}) as answer:
        assert "content-encoding" not in answer.headers
        assert b"".join([piece async for piece in answer.aiter_raw()]) == b"plain" * 100
    assert upstream.requests[-1].headers["accept-encoding"] == "gzip, br"

    await ready(gateway, version(upstream.port, access=OPEN))
    async with gateway.client.stream("GET", PATH, headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(("methods", "offered"), [(1, "gzip"), (2, "zstd"), (3, "gzip"), (4, "br"), (5, "gzip, br")])
async def test_an_upstream_is_offered_what_can_be_decompressed(
    gateway: Served, upstream: HttpSink, methods: int, offered: str
) -> None:
    await ready(gateway, version(upstream.port, access=OPEN, decompression=methods))

    await gateway.get(PATH, {"Accept-Encoding": "zstd"})

    assert upstream.requests[-1].headers["accept-encoding"] == offered


def redirecting(upstream: HttpSink, location: str) -> None:
    def answer(request: Request) -> Reply:
        return Reply(200, body=b"there") if request.path.startswith("/new") else Reply(302, {"location": location})

    upstream.answer = answer


async def test_redirects_within_the_upstream_are_followed_where_the_connection_says_so(
    gateway: Served, upstream: HttpSink
) -> None:
    for location in (f"http://127.0.0.1:{upstream.port}/new?a=b", "/new?a=b"):
        redirecting(upstream, location)
        await ready(gateway, version(upstream.port, access=OPEN, allow_auto_redirect=True, headers={"X-Secret": "s"}))

        answer = await gateway.get(f"{PATH}/old", {"X-Penstock-Route": "bills/v1/acme"})

        assert (answer.status_code, answer.text) == (200, "there")
        assert upstream.requests[-1].path == "/new?a=b"
        assert upstream.requests[-1].headers["x-secret"] == "s"
        assert upstream.requests[-1].headers["host"] == f"127.0.0.1:{upstream.port}"

        await ready(gateway, version(upstream.port, access=OPEN))
        assert await gateway.status(f"{PATH}/old") == 302


async def test_redirects_to_elsewhere_are_left_to_the_caller(gateway: Served, upstream: HttpSink) -> None:
    async with http_sink() as elsewhere:
        redirecting(upstream, f"http://127.0.0.1:{elsewhere.port}/new")
        other = version(elsewhere.port, path="/bills/v1", access=OPEN)
        await ready(gateway, version(upstream.port, access=OPEN, allow_auto_redirect=True), other)

        answer = await gateway.get(PATH)

        assert (answer.status_code, answer.headers["location"]) == (302, f"http://127.0.0.1:{elsewhere.port}/new")
        assert elsewhere.requests == []


async def test_redirects_without_end_come_to_one(gateway: Served, upstream: HttpSink) -> None:
    upstream.answer = lambda request: Reply(302, {"location": f"http://127.0.0.1:{upstream.port}/again"})
    await ready(gateway, version(upstream.port, access=OPEN, allow_auto_redirect=True))

    assert await gateway.status(PATH) == 302
    assert len(upstream.requests) == 6


async def test_websockets_pass_both_ways(gateway: Served) -> None:
    async def shout(connection: websockets.ServerConnection) -> None:
        async for message in connection:
            await connection.send(str(message).upper())

    async with websockets.serve(shout, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await ready(gateway, version(port, access=OPEN))
        url = gateway.gateway.address.replace("http", "ws") + f"{PATH}/chat"

        async with websockets.connect(url, proxy=None) as connection:
            await connection.send("hello")

            assert await connection.recv() == "HELLO"


async def test_an_upstream_that_cannot_be_reached_is_503(gateway: Served) -> None:
    await ready(gateway, version(free_port(), access=OPEN), version(path="/nobody/v1", access=OPEN))

    for path in (PATH, "/nobody/v1"):
        answer = await gateway.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert "127.0.0.1" not in answer.text


@pytest.mark.parametrize("answer", [b"", b"this is no HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"])
async def test_an_upstream_that_breaks_off_is_502(gateway: Served, answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        await ready(gateway, version(server.sockets[0].getsockname()[1], access=OPEN))

        refused = await gateway.get(PATH)

        assert (refused.status_code, refused.json()["code"]) == (502, "bad-gateway")


async def test_an_upstream_that_does_not_answer_in_time_is_504(gateway: Served, upstream: HttpSink) -> None:
    upstream.answer = lambda request: Reply(pause=5)
    await ready(gateway, version(upstream.port, access=OPEN, timeout_seconds=0.2))

    answer = await gateway.get(PATH)

    assert (answer.status_code, answer.json()["code"]) == (504, "overdue")


async def test_an_answer_may_take_longer_than_the_timeout_while_it_keeps_coming(gateway: Served) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n")
        for _ in range(8):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        await ready(gateway, version(port, access=OPEN, timeout_seconds=0.5))

        assert (await gateway.get(PATH)).text == "x" * 8


async def test_requests_that_may_be_repeated_are_tried_again_after_503(gateway: Served, upstream: HttpSink) -> None:
    await ready(gateway, version(upstream.port, access=OPEN, retries=2))
    upstream.reply_in_turn(Reply(503), Reply(503), Reply(200))
    assert await gateway.status(PATH) == 200

    upstream.reply_in_turn(Reply(503), Reply(200))
    assert (await gateway.client.post(PATH, content=b"once")).status_code == 503


async def test_a_host_that_refuses_connections_is_passed_over(gateway: Served, upstream: HttpSink) -> None:
    await ready(gateway, version(free_port(), upstream.port, access=OPEN, retries=2))

    answers = await asyncio.gather(*(gateway.client.post(PATH, content=b"x") for _ in range(20)))

    assert {answer.status_code for answer in answers} == {204}


async def test_a_host_whose_health_path_fails_gets_no_calls(gateway: Served, upstream: HttpSink) -> None:
    def answer(request: Request) -> Reply:
        return Reply(500 if request.path == "/health" else 200)

    async with http_sink() as well:
        upstream.answer = answer
        secret = {"X-Endpoint-Key": "s"}
        await ready(gateway, version(upstream.port, well.port, access=OPEN, health_path="/health", headers=secret))

        assert [await gateway.status(PATH) for _ in range(10)] == [204] * 10
        checks = [request for request in upstream.requests if request.path == "/health"]
        assert len(checks) == len(upstream.requests)
        assert checks[0].headers["x-endpoint-key"] == "s"


async def test_hosts_may_have_names(gateway: Served, upstream: HttpSink) -> None:
    named = version(access=OPEN)
    named.upstream.hosts.append(host(upstream.port, "localhost"))
    await ready(gateway, named)

    assert await gateway.status(PATH) == 204
    assert upstream.requests[-1].headers["host"] == f"localhost:{upstream.port}"
