"""Requests for endpoints passed on, and answers back, with a process that says exactly what each test has it say."""

import asyncio
from pathlib import Path

import pytest

from penstock.apihost.proxy import Proxy, TooSlow
from penstock.apihost.refusal import Refusal
from penstock.apihost.upstream import Unreached
from tests.conformance.api_front import OK, ROUTE, fronted, request

CHUNKED = b"HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
BESIDE = b"GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_what_belongs_to_the_connection_is_not_passed_on(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 200 Fine\r\nconnection: x-hop\r\nx-hop: 1\r\nX-Kept: 2\r\ncontent-length: 0\r\n\r\n"
    async with fronted(tmp_path, answer) as world:
        caller = await world.caller()
        sent = "Connection: keep-alive, X-Own\r\nX-Own: 1\r\nX-Kept: 2\r\nX-Endpoint-Key: k\r\nX-Forwarded-For: z\r\n"
        caller.writer.write(request(headers=sent))
        assert await caller.head() == (
            b"HTTP/1.1 200 Fine\r\nX-Kept: 2\r\ncontent-length: 0\r\nserver: penstock\r\n\r\n"
        )
        assert world.api.requests == [
            b"GET /a%20b?q=1 HTTP/1.1\r\nhost: x\r\nx-kept: 2\r\n"
            b"x-forwarded-for: 10.0.0.9\r\nx-forwarded-proto: https\r\n\r\n"
        ]


async def test_nobody_can_hide_where_a_message_ends(tmp_path: Path) -> None:
    hiding = b"HTTP/1.1 200 OK\r\nconnection: Content-Length\r\ncontent-length: 2\r\n\r\nok"
    async with fronted(tmp_path, hiding, OK) as world:
        caller = await world.caller()
        assert (await caller.ask(request("POST", headers="Connection: content-length, host\r\n", body=b"abc")))[
            2
        ] == b"ok"
        assert b"\r\nhost: x\r\ncontent-length: 3\r\n" in world.api.requests[0]
        assert (await caller.ask(request()))[2] == b"ok"


async def test_connections_are_used_again_on_both_sides(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK, OK, OK) as world:
        caller = await world.caller()
        for _ in range(3):
            assert (await caller.ask(request()))[2] == b"ok"
        assert world.api.connections == 1


async def test_a_connection_whose_answer_was_not_taken_whole_is_not(tmp_path: Path) -> None:
    endless = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun"
    async with fronted(tmp_path, endless, OK) as world:
        first = await world.caller()
        first.writer.write(request())
        await first.head()
        first.writer.close()
        await world.api.lost.wait()
        assert (await (await world.caller()).ask(request()))[2] == b"ok"
        assert world.api.connections == 2


async def test_bodies_go_in_pieces_both_ways(tmp_path: Path) -> None:
    async with fronted(tmp_path, CHUNKED, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("POST", headers="Transfer-Encoding: chunked\r\n"))
        for _ in range(3):
            caller.writer.write(b"a\r\nzzzzzzzzzz\r\n")
        status, head, body = await caller.ask(b"0\r\n\r\n")
        assert (status, body, b"connection" in head) == (201, b"abcde", False)
        assert world.api.requests[0].count(b"a\r\nzzzzzzzzzz\r\n") == 3
        assert (await caller.ask(request()))[2] == b"ok"


async def test_who_speaks_an_older_http_gets_a_body_that_ends_with_the_connection(tmp_path: Path) -> None:
    async with fronted(tmp_path, CHUNKED) as world:
        caller = await world.caller()
        caller.writer.write(request().replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert (await caller.reader.read()).endswith(b"connection: close\r\n\r\nabcde")


async def test_requests_that_come_ahead_of_their_turn_are_answered_in_order(tmp_path: Path) -> None:
    answers = [b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n%d" % number for number in range(5)]
    async with fronted(tmp_path, *answers) as world:
        caller = await world.caller()
        caller.writer.write(request() * 2 + BESIDE + request() * 2 + BESIDE * 2 + request())
        found = [(await caller.answer())[2] for _ in range(8)]
        assert found == [b"0", b"1", BESIDE, b"2", b"3", BESIDE, BESIDE, b"4"]


async def test_one_that_comes_right_behind_a_body_is_left_to_another_connection(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("POST", body=b"abc") + request())
        assert (await caller.answer())[2] == b"ok"
        assert await caller.reader.read() == b""
        assert len(world.api.requests) == 1


async def test_the_server_beside_gets_its_requests_whole_and_on_the_same_connection(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        post = b"POST /elsewhere HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc"
        caller.writer.write(post)
        await asyncio.sleep(0)
        assert (await caller.ask(b"def"))[2] == post + b"def"
        assert (await caller.ask(request()))[2] == b"ok"
        for piece in (BESIDE[:7], BESIDE[7:30]):
            caller.writer.write(piece)
            await caller.writer.drain()
        assert (await caller.ask(BESIDE[30:]))[2] == BESIDE


async def test_an_answer_may_come_before_the_body_has_ended(tmp_path: Path) -> None:
    async with fronted(tmp_path, b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n") as world:
        caller = await world.caller()
        status, head, _ = await caller.ask(request("POST", headers="Content-Length: 500\r\n") + b"z" * 100)
        assert (status, b"connection: close" in head) == (403, True)
        assert await caller.reader.read() == b""


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_body_that_is_too_long_is_refused(tmp_path: Path, chunked: bool) -> None:
    headers = "Transfer-Encoding: chunked\r\n" if chunked else "Content-Length: 1200\r\n"
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("POST", headers=headers))
        status, _, body = await caller.ask(b"4b0\r\n" * chunked + b"z" * 1200)
        assert (status, b"1000 bytes" in body) == (413, True)


async def test_a_body_that_breaks_off_is_not_taken_for_whole(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("POST", headers="Transfer-Encoding: chunked\r\n") + b"1\r\nz\r\n")
        await caller.writer.drain()
        caller.writer.close()
        await world.api.lost.wait()
        assert world.api.requests == []


async def test_a_body_that_goes_wrong_after_the_answer_has_begun_cuts_the_connection(tmp_path: Path) -> None:
    async def answer_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nbegun")
        await reader.read()
        writer.close()

    process = await asyncio.start_unix_server(answer_first, tmp_path / "own")
    async with process, fronted(tmp_path) as world, Proxy(tmp_path / "own", 5, 1000) as proxy:
        world.front.proxy = proxy
        caller = await world.caller()
        caller.writer.write(request("POST", headers="Transfer-Encoding: chunked\r\n"))
        await caller.head()
        caller.writer.write(b"zz\r\n")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await caller.reader.readexactly(50)


async def test_who_asks_before_sending_a_body_is_told_to_go_on(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("POST", headers="Expect: 100-continue\r\nContent-Length: 3\r\n"))
        assert await caller.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert (await caller.ask(b"abc"))[0] == 200
        assert b"expect" not in world.api.requests[0]


async def test_head_and_interim_answers_are_understood(tmp_path: Path) -> None:
    head = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"
    async with fronted(tmp_path, head, OK) as world:
        caller = await world.caller()
        caller.writer.write(request("HEAD"))
        assert await caller.head() == b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\nserver: penstock\r\n\r\n"
        assert (await caller.ask(request()))[2] == b"ok"
        assert world.api.connections == 1


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (b"", 502, b"broke off before its answer"),
        (b"this is not HTTP\r\n\r\n", 502, b"broke off before its answer"),
        (None, 504, b"in time"),
    ],
)
async def test_no_proper_answer_is_an_error(tmp_path: Path, answer: bytes | None, status: int, reason: bytes) -> None:
    async with fronted(tmp_path, answer, OK, patience=0.2) as world:
        caller = await world.caller()
        found, _, body = await caller.ask(request())
        assert (found, reason in body) == (status, True)
        assert (await caller.ask(request()))[0] == 200


async def test_an_answer_that_breaks_off_does_not_look_whole(tmp_path: Path) -> None:
    broken = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\n"
    async with fronted(tmp_path, broken + b"zzz\r\n") as world:
        caller = await world.caller()
        caller.writer.write(request())
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await caller.answer()


async def test_what_an_api_says_beyond_its_answer_reaches_nobody(tmp_path: Path) -> None:
    forged = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged"
    async with fronted(tmp_path, OK + forged, OK, OK + b"more", OK) as world:
        caller = await world.caller()
        for _ in range(4):
            assert (await caller.ask(request()))[2] == b"ok"
        assert world.api.connections > 1


async def test_an_api_cannot_take_a_connection_over_unasked(tmp_path: Path) -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nxx"
    async with fronted(tmp_path, switching, OK) as world:
        caller = await world.caller()
        status, _, body = await caller.ask(request())
        assert (status, b"unasked" in body) == (502, True)
        assert (await caller.ask(request()))[2] == b"ok"


async def test_nobody_at_the_socket_is_an_error(tmp_path: Path) -> None:
    async with fronted(tmp_path) as world, Proxy(tmp_path / "nothing", 1, 1000) as proxy:
        world.front.proxy = proxy
        status, _, body = await (await world.caller()).ask(request())
        assert (status, b"No such file" in body) == (502, True)
        with pytest.raises(Unreached, match="No such file"):
            await proxy.get("/", 100)


async def test_a_refusal_leaves_the_connection_usable(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK) as world:
        world.front.refused = Refusal(503, "not yet", retry_after=5)
        caller = await world.caller()
        status, head, body = await caller.ask(request())
        assert (status, b"retry-after: 5\r\n" in head, b"not yet" in body) == (503, True, True)
        world.front.refused = None
        assert (await caller.ask(request()))[0] == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET %b HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET %b HTTP/1.1\r\nx: " + b"z" * 70_000, 431),
        (b"\r\n\r\n", 400),
    ],
)
async def test_what_is_no_request_is_refused(tmp_path: Path, sent: bytes, status: int) -> None:
    async with fronted(tmp_path, OK) as world:
        caller = await world.caller()
        found, head, _ = await caller.ask(sent.replace(b"%b", ROUTE.encode()))
        assert (found, b"connection: close" in head) == (status, True)
        assert await caller.reader.read() == b""


async def test_a_page_of_the_application_is_read_whole(tmp_path: Path) -> None:
    async with fronted(tmp_path, OK, CHUNKED, None, patience=0.2) as world:
        assert world.front.proxy is not None
        assert await world.front.proxy.get("/health", 2) == (200, b"ok")
        with pytest.raises(Unreached, match="more than 4 bytes"):
            await world.front.proxy.get("/health", 4)
        with pytest.raises(TooSlow):
            await world.front.proxy.get("/health", 4)
