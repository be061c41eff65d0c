"""WebSockets and server-sent events of endpoints, on a real agent."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.application import Application
from tests.areas.hosting import (
    READY,
    Entity,
    HostingAgent,
    becomes,
    hosting_agent,
    make_endpoint,
    register,
    running_shop,
)
from tests.areas.waiting import until

HOST = "host-streams"
KEY = "key-of-tests"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streams")


@pytest.fixture(scope="module")
async def shop(place: Path) -> AsyncIterator[Application]:
    async with running_shop(place) as running:
        for package in ("acme-fickle", "penstock-api-board"):
            await register(running, package)
        yield running


@pytest.fixture(scope="module")
async def agent(shop: Application, place: Path) -> AsyncIterator[HostingAgent]:
    async with hosting_agent(shop, place / "one", HOST, ENDPOINT_KEY=KEY) as running:
        yield running


async def ready_endpoint(shop: Application) -> Entity:
    made = await make_endpoint(shop, f"e{uuid4().hex[:10]}", "fickle", {"colour": "red"}, HOST)
    await becomes(shop, made, READY)
    return made


def calling(agent: HostingAgent, endpoint: Entity) -> httpx.AsyncClient:
    base = f"{agent.address}{endpoint['Route']}"
    return httpx.AsyncClient(base_url=base, headers={"X-Endpoint-Key": KEY}, timeout=20)


@pytest.fixture(scope="module")
async def endpoint(shop: Application, agent: HostingAgent) -> Entity:
    """One that no test changes or ends."""
    return await ready_endpoint(shop)


@pytest.fixture(scope="module")
async def caller(agent: HostingAgent, endpoint: Entity) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(agent, endpoint) as client:
        yield client


@pytest.fixture
async def own_endpoint(shop: Application, agent: HostingAgent) -> Entity:
    """One for a single test."""
    return await ready_endpoint(shop)


@pytest.fixture
async def own_caller(agent: HostingAgent, own_endpoint: Entity) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(agent, own_endpoint) as client:
        yield client


def websocket(caller: httpx.AsyncClient, path: str, key: str = KEY) -> connect:
    address = str(caller.base_url.join(path)).replace("http://", "ws://")
    return connect(address, additional_headers={"X-Endpoint-Key": key}, subprotocols=["v1.acme"], max_size=None)  # type: ignore[list-item]


async def echoed(socket: ClientConnection, said: str | bytes) -> bool:
    await socket.send(said)
    return await socket.recv() == said


async def test_a_websocket_is_passed_on_with_its_path_and_words_of_any_size(
    caller: httpx.AsyncClient, endpoint: Entity
) -> None:
    async with websocket(caller, "deep%20er?x=1") as socket:
        assert socket.subprotocol == "v1.acme"
        route = endpoint["Route"]
        assert msgspec.json.decode(await socket.recv()) == {"path": f"{route}/deep er", "root": route, "query": "x=1"}
        assert await echoed(socket, "gr\u00fc\u00df dich")
        assert await echoed(socket, os.urandom(3_000_000))
        await socket.ping()


async def test_the_code_and_reason_of_its_end_arrive(caller: httpx.AsyncClient) -> None:
    async with websocket(caller, "") as socket:
        await socket.recv()
        await socket.send("close")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert (socket.close_code, socket.close_reason) == (4001, "as told")


async def test_the_api_learns_that_a_caller_has_left(own_caller: httpx.AsyncClient) -> None:
    async with own_caller.stream("GET", "/events") as events:
        lines = events.aiter_lines()
        assert await anext(lines) == "data: 0"
        async with websocket(own_caller, "") as socket:
            await socket.recv()
            socket.transport.abort()
        assert [await anext(lines) for _ in range(2)] == ["", "data: 1"]


@pytest.mark.parametrize(("path", "key", "status"), [("refused", KEY, 403), ("", "wrong", 401)])
async def test_a_websocket_that_is_refused_is_answered(
    caller: httpx.AsyncClient, path: str, key: str, status: int
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await websocket(caller, path, key).__aenter__()
    assert refused.value.response.status_code == status


async def test_a_killed_process_ends_its_websockets_and_the_next_one_takes_others(
    own_caller: httpx.AsyncClient,
) -> None:
    pid = (await own_caller.get("/")).json()["pid"]
    async with websocket(own_caller, "") as socket:
        await socket.recv()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            await socket.recv()

    async def again() -> bool:
        try:
            async with websocket(own_caller, "") as socket:
                await socket.recv()
                return await echoed(socket, "back")
        except InvalidStatus:
            return False

    assert await until(again)


async def test_a_change_of_the_endpoint_ends_its_websockets(
    shop: Application, own_caller: httpx.AsyncClient, own_endpoint: Entity
) -> None:
    async with websocket(own_caller, "") as socket:
        await socket.recv()
        changed = {**own_endpoint, "JsonConfiguration": '{"colour": "blue"}', "ETag": None}
        assert (await shop.operator.put("/integrations/endpoint", json=changed)).status_code == 200
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1012  # the service restarts


async def test_events_arrive_one_by_one_while_the_answer_goes_on(own_caller: httpx.AsyncClient) -> None:
    async with own_caller.stream("GET", "/events") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        found = []
        async for line in answer.aiter_lines():
            if line:
                found.append(line)
                await own_caller.post("/tick")  # without which there is no further one
    assert found == ["data: 0", "data: 1", "data: 2"]


async def test_a_stream_of_events_that_the_process_breaks_off_does_not_look_whole(
    own_caller: httpx.AsyncClient,
) -> None:
    pid = (await own_caller.get("/")).json()["pid"]
    async with own_caller.stream("GET", "/events") as answer:
        lines = answer.aiter_lines()
        assert [await anext(lines) for _ in range(2)] == ["data: 0", ""]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(httpx.RemoteProtocolError):
            await anext(lines)


async def test_the_example_tells_of_messages_by_events_and_websockets(shop: Application, agent: HostingAgent) -> None:
    made = await make_endpoint(shop, f"b{uuid4().hex[:10]}", "board", {"kept": 2}, HOST)
    await becomes(shop, made, READY)
    base = f"{agent.address}{made['Route']}"
    async with httpx.AsyncClient(base_url=base, headers={"X-Endpoint-Key": KEY}, timeout=20) as board:
        for text in ("one", "two", "three"):
            assert (await board.post("/messages", json={"text": text})).status_code == 201
        assert (await board.post("/messages", json={"text": ""})).status_code == 400
        async with websocket(board, "talk") as socket:
            assert [msgspec.json.decode(await socket.recv())["text"] for _ in range(2)] == ["two", "three"]
            await socket.send("four")
            assert msgspec.json.decode(await socket.recv()) == {"number": 4, "text": "four"}
        async with board.stream("GET", "/events", headers={"Last-Event-ID": "3"}) as events:
            lines = events.aiter_lines()
            assert [await anext(lines) for _ in range(2)] == ["id: 4", 'data: "four"']


async def test_many_websockets_do_not_keep_requests_waiting(caller: httpx.AsyncClient) -> None:
    async with asyncio.TaskGroup() as group:
        opening = [group.create_task(websocket(caller, "").__aenter__()) for _ in range(200)]
    sockets = [task.result() for task in opening]
    assert (await caller.get("/")).status_code == 200
    async with asyncio.TaskGroup() as group:
        for socket in sockets:
            await socket.recv()
            group.create_task(echoed(socket, "all"))
    for socket in sockets:
        await socket.close()
