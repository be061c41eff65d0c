"""The API gateway of `penstock up`: there when there are APIs, and as long as the installation runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from tests.gateway_program import GatewayCaller
from tests.http_sink import HttpSink, http_sink
from tests.installation import Place, Up, command_of
from tests.nats_server import free_port

pytestmark = pytest.mark.timeout(180)

PASSWORD = "correct horse battery staple"
GATEWAY = "penstock.cli.main gateway"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
async def upstream() -> AsyncIterator[HttpSink]:
    async with http_sink() as sink:
        yield sink


@asynccontextmanager
async def admin(place: Place) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{place.port}", timeout=30) as client:
        login = {"UserName": "admin", "Password": PASSWORD}
        answer = await client.post("/identity/login/username", json=login)
        client.headers["Authorization"] = f"Bearer {answer.json()['Token']}"
        yield client


async def publish(place: Place, upstream: HttpSink) -> str:
    """Publishes the API `orders`; answers the key of a subscription to it."""
    version = {"ApiName": "orders", "Version": "v1", "IsActive": True, "Type": "address"}
    documents = {
        "apis": {"Name": "orders"},
        "apiversions": {**version, "Parameters": {"Url": f"http://127.0.0.1:{upstream.port}"}},
        "subscriptions": {"Name": "shop", "Type": "apikey", "Apis": ["orders"]},
    }
    async with admin(place) as client:
        for path, body in documents.items():
            answer = await client.post(f"/apim/{path}", json=body)
            assert answer.status_code == 201, answer.text
        key: str = answer.json()["Key"]
        return key


def gateways(up: Up) -> list[psutil.Process]:
    return [process for process in up.processes() if GATEWAY in command_of(process)]


async def test_the_first_published_api_starts_a_gateway_that_outlives_what_is_killed(
    place: Place, upstream: HttpSink
) -> None:
    port = free_port()
    settings = {"PENSTOCK_ADMIN_PASSWORD": PASSWORD, "PENSTOCK_GATEWAY_PORT": str(port)}
    async with place.up(**settings) as up:
        await up.shows("Ctrl-C stops everything.")
        assert gateways(up) == []
        caller = GatewayCaller(f"http://127.0.0.1:{port}/orders/v1/things", await publish(place, upstream))
        await up.shows(f"Published APIs are served at http://127.0.0.1:{port}")
        await caller.gets(204)
        up.child(GATEWAY).kill()
        await up.shows("The API gateway was ended by SIGKILL; it is started again")
        await caller.gets(204)
        up.child("penstock.cli.main serve").kill()
        statuses = [await caller.call() for _ in range(20)]
        assert statuses == [204] * 20
        await up.shows("The server was ended by SIGKILL")
        everything = up.processes()
        assert (await up.interrupt()).code == 0
    assert not any(process.is_running() for process in everything)
    async with place.up(**settings) as up:
        await caller.gets(204)
        assert await caller.call(key="wrong") == 401
        await up.interrupt()


async def test_a_gateway_that_cannot_run_is_told_and_ends_nothing_else(place: Place, upstream: HttpSink) -> None:
    async with place.up(PENSTOCK_ADMIN_PASSWORD=PASSWORD, PENSTOCK_GATEWAY_PORT="many") as up:
        await up.shows("Ctrl-C stops everything.")
        await publish(place, upstream)
        await up.shows("PENSTOCK_GATEWAY_PORT: must be a whole number")
        async with admin(place) as client:
            assert (await client.get("/apim/apis")).status_code == 200
        assert (await up.interrupt()).code == 0
    assert "The API gateway cannot run; everything else does." in up.shown


async def test_a_taken_port_is_told_until_it_is_free(place: Place, upstream: HttpSink) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with place.up(PENSTOCK_ADMIN_PASSWORD=PASSWORD, PENSTOCK_GATEWAY_PORT=str(port)) as up:
        await up.shows("Ctrl-C stops everything.")
        caller = GatewayCaller(f"http://127.0.0.1:{port}/orders/v1/things", await publish(place, upstream))
        await up.shows("The API gateway ended with exit code 1; it is started again")
        assert str(port) in up.shown
        server.close()
        await server.wait_closed()
        await caller.gets(204)
        assert (await up.interrupt()).code == 0
