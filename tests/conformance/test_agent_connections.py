"""Connections that flows and endpoints of an agent share."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.agent.endpoints.front import EndpointFront
from penstock.agent.endpoints.served import ServedEndpoint
from penstock.agent.settings import read_agent_settings
from penstock.apihost.entrance import Entrance
from penstock.apihost.host import ApiHost, HostPolicy
from penstock.apihost.life import EndpointLife
from penstock.apihost.packages import ApiPackages
from penstock.apihost.proxy import Proxy
from penstock.apihost.standing import new_standing
from penstock.flow.http.http_server import HttpServer, ServedPath, ServerRequest
from penstock.kernel.clock import SystemClock
from penstock.packages.index import PackageIndex
from penstock.server.apihost.hosted import Memory
from tests.conformance.api_front import OK, Api, Caller, request

MOST = 1000
KEYED = "X-Endpoint-Key: k\r\n"


async def _flow(asked: ServerRequest) -> web.StreamResponse:
    if asked.web.path == "/r/slow":
        await asyncio.sleep(0.1)
    return web.Response(body=asked.web.path.encode() + b" " + asked.body)


def shared_server() -> HttpServer:
    found = read_agent_settings({"PENSTOCK_AGENT_TRUSTED_PROXIES": "127.0.0.0/8"})
    return HttpServer("127.0.0.1", 0, MOST, EndpointFront.of(found))


@asynccontextmanager
async def agent(folder: Path, *answers: bytes | None) -> AsyncIterator[tuple[Caller, Api]]:
    """An endpoint at /r, and flows at /flow, /r/own and /r/slow; a connection to both."""
    clock, api = SystemClock(), Api(list(answers))
    packages = ApiPackages(folder, PackageIndex("none", "", {}), os.environ)
    life = EndpointLife(
        "r", "/r", Memory(new_standing(clock.now())), ApiHost(packages, {}, HostPolicy(), folder), clock
    )
    process = await asyncio.start_unix_server(api.serve, folder / "s")
    async with (
        process,
        Proxy(folder / "s", 5, MOST) as proxy,
        shared_server() as server,
    ):
        life.proxy = proxy
        await ServedEndpoint(server, Entrance("127.0.0.1", "k", "KEY"), life).open()
        for path in ("/flow", "/r/own", "/r/slow"):
            await server.serve(ServedPath(path, frozenset({"GET", "POST"}), False, (path, _flow), _flow))
        caller = Caller(*await asyncio.open_connection("127.0.0.1", server.port))
        try:
            async with asyncio.timeout(20):
                yield caller, api
        finally:
            caller.writer.close()


def to_flow(path: str = "/flow", body: bytes = b"") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def test_requests_for_both_go_over_one_connection(tmp_path: Path) -> None:
    async with agent(tmp_path, *[OK] * 4) as (caller, _):
        for _ in range(2):
            assert (await caller.ask(request(headers=KEYED)))[2] == b"ok"
            assert (await caller.ask(to_flow(body=b"abc")))[2] == b"/flow abc"
            caller.writer.write(to_flow(body=b"z" * 900)[:-500])
            assert (await caller.ask(b"z" * 500))[2] == b"/flow " + b"z" * 900
            assert (await caller.ask(request("POST", headers=KEYED, body=b"abc")))[2] == b"ok"


async def test_requests_that_come_at_once_are_answered_in_order(tmp_path: Path) -> None:
    async with agent(tmp_path, OK, OK) as (caller, _):
        get = b"GET /r/slow HTTP/1.1\r\nHost: x\r\n\r\n"
        caller.writer.write(get + request(headers=KEYED) + get + get + request(headers=KEYED))
        assert [(await caller.answer())[2] for _ in range(5)] == [b"/r/slow ", b"ok", b"/r/slow ", b"/r/slow ", b"ok"]


@given(
    kinds=st.lists(st.sampled_from(["flow", "endpoint"]), min_size=1, max_size=6),
    body=st.binary(max_size=300),
    cuts=st.lists(st.integers(0, 600), max_size=8),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_it_is_the_same_wherever_what_comes_is_cut(
    tmp_path: Path, kinds: list[str], body: bytes, cuts: list[int]
) -> None:
    async with agent(tmp_path, *[OK] * len(kinds)) as (caller, _):
        get = {"flow": b"GET /flow HTTP/1.1\r\nHost: x\r\n\r\n", "endpoint": request(headers=KEYED)}
        post = {"flow": to_flow(body=body), "endpoint": request("POST", headers=KEYED, body=body)}
        sent = b"".join([*(get[kind] for kind in kinds[:-1]), post[kinds[-1]]])
        places = sorted({0, *(cut for cut in cuts if cut < len(sent)), len(sent)})
        for start, end in pairwise(places):
            caller.writer.write(sent[start:end])
            await asyncio.sleep(0.001)
        expected = {"flow": b"/flow ", "endpoint": b"ok"}
        answers = [(await caller.answer())[2] for _ in kinds]
        assert answers[:-1] == [expected[kind] for kind in kinds[:-1]]
        assert answers[-1] == (b"/flow " + body if kinds[-1] == "flow" else b"ok")


async def test_one_right_behind_a_body_for_a_flow_is_sent_elsewhere(tmp_path: Path) -> None:
    async with agent(tmp_path, OK) as (caller, _):
        caller.writer.write(to_flow(body=b"abc") + request(headers=KEYED))
        assert (await caller.answer())[2] == b"/flow abc"
        status, head, _ = await caller.answer()
        assert (status, b"connection: close" in head) == (421, True)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [("/own", "", 200), ("x", KEYED, 404), ("", "", 401), ("/", "X-Endpoint-Key: wrong\r\n", 401), ("/", KEYED, 200)],
)
async def test_an_exact_path_comes_before_the_route_around_it(
    tmp_path: Path, path: str, headers: str, status: int
) -> None:
    async with agent(tmp_path, OK) as (caller, _):
        assert (await caller.ask(request("GET", path, headers)))[0] == status
        assert (await caller.ask(to_flow()))[0] == 200


async def test_a_flows_refusal_of_a_body_does_not_let_the_rest_pass_for_a_request(tmp_path: Path) -> None:
    async with agent(tmp_path, OK) as (caller, api):
        smuggled = request(headers=KEYED)
        body = b"z" * 2000 + smuggled * 20
        begun = to_flow(body=body)[: -len(smuggled) * 20]
        assert (await caller.ask(begun))[0] == 413
        caller.writer.write(smuggled * 20)
        assert await caller.reader.read() == b""
        assert api.requests == []


async def test_a_trusted_proxys_word_on_the_caller_is_passed_on(tmp_path: Path) -> None:
    async with agent(tmp_path, OK) as (caller, api):
        forwarded = "X-Forwarded-For: 1.1.1.1, 192.0.2.7, 127.0.0.3\r\nX-Forwarded-Proto: https\r\n"
        assert (await caller.ask(request(headers=KEYED + forwarded)))[0] == 200
        assert b"x-forwarded-for: 192.0.2.7\r\nx-forwarded-proto: https\r\n" in api.requests[0]


async def test_the_end_of_the_server_ends_connections_that_wait(tmp_path: Path) -> None:
    async with agent(tmp_path, OK) as (caller, _):
        assert (await caller.ask(request(headers=KEYED)))[0] == 200
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await caller.head()
