"""Triggers on several replicas: one runs each, and goes on at another when it stops or is killed."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.busy_server import busy_server
from tests.areas.events import make_channel, routed
from tests.areas.triggers import make_trigger, remove_trigger, stands, times
from tests.areas.waiting import until
from tests.foreign_nats import PASSWORD, USER, foreign_nats
from tests.nats_server import free_port
from tests.postgres import PostgresServer
from tests.program import PROGRAM


@dataclass
class Cluster:
    """A database and a bus that replicas share."""

    folder: Path
    settings: dict[str, str]

    @asynccontextmanager
    async def replica(self, name: str) -> AsyncIterator[Application]:
        async with running_application(self.folder / name, **self.settings) as application:
            # The next replica makes the other users anew.
            application.operator = application.reader = application.admin
            yield application

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, Any]]:
        """A replica that is a process of its own, and clients of its Admin by the names that Application has."""
        port = free_port()
        own = {"PENSTOCK_DATA": str(self.folder / "process"), "PENSTOCK_PORT": str(port)}
        allowed = {"PENSTOCK_ALLOW_PRIVATE_ADDRESSES": "true", "PENSTOCK_ADMIN_PASSWORD": ADMIN_PASSWORD}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        environment = {**inherited, **self.settings, **own, **allowed}
        process = await asyncio.create_subprocess_exec(*PROGRAM, "serve", env=environment)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            client.headers["authorization"] = f"Bearer {await until(lambda: _token(client))}"
            yield process, SimpleNamespace(operator=client, reader=client)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _token(client: httpx.AsyncClient) -> str | None:
    try:
        answer = await client.post("/identity/login/username", json={"UserName": "admin", "Password": ADMIN_PASSWORD})
    except httpx.TransportError:
        return None
    return answer.json()["Token"] if answer.status_code == 200 else None


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    keys = folder / "keys.json"
    async with EmbeddedServer(folder / "nats", BusKeys.load_or_create(keys)) as nats:
        settings = {
            "PENSTOCK_DATABASE_URL": postgres_server.new_database(),
            "PENSTOCK_NATS_URL": nats.url,
            "PENSTOCK_NATS_KEYS": str(keys),
            "PENSTOCK_SECRET_KEY": base64.b64encode(os.urandom(32)).decode(),
        }
        yield Cluster(folder, settings)


async def test_of_several_replicas_one_runs_a_trigger(cluster: Cluster) -> None:
    async with cluster.replica("1") as first, cluster.replica("2") as second, busy_server() as busy:
        channel = await make_channel(first)
        slow = await make_trigger(second, "http-poll", url=f"http://127.0.0.1:{busy.port}/")
        timer = await make_trigger(first, "timer", channel)
        events = await routed(first, channel, 3)
        await remove_trigger(second, timer)
        await remove_trigger(first, slow)
    assert busy.most_at_once == 1
    found = times(events)
    assert len(set(found)) == len(found)
    assert found == sorted(found)


async def test_a_listening_trigger_goes_on_at_another_replica(cluster: Cluster, tmp_path: Path) -> None:
    async with foreign_nats(tmp_path / "nats") as nats, AsyncExitStack() as ending:
        await nats.client.jetstream().add_stream(name="orders", subjects=["orders.>"])
        server = {"servers": [nats.url], "user": USER, "password": PASSWORD}
        second = await ending.enter_async_context(cluster.replica("2"))
        channel = await make_channel(second)
        id = await make_trigger(second, "nats", channel, subject="orders.*", stream="orders", **server)
        await stands(second, id, "Started")
        await nats.client.jetstream().publish("orders.new", b'{"n": 1}')
        await routed(second, channel, 1)
        async with cluster.replica("1") as first:
            await ending.aclose()
            await nats.client.jetstream().publish("orders.new", b'{"n": 2}')
            events = await routed(first, channel, 2)
            await remove_trigger(first, id)
    assert [event["data"] for event in events] == [{"n": 1}, {"n": 2}]
    assert {event["subject"] for event in events} == {"orders.new"}


async def test_a_trigger_of_a_replica_that_was_killed_goes_on_at_another(cluster: Cluster, tmp_path: Path) -> None:
    async with foreign_nats(tmp_path / "nats") as nats, cluster.process() as (process, first):
        await nats.client.jetstream().add_stream(name="parcels", subjects=["parcels.>"])
        server = {"servers": [nats.url], "user": USER, "password": PASSWORD}
        channel = await make_channel(first)
        id = await make_trigger(first, "nats", channel, subject="parcels.*", stream="parcels", **server)
        await stands(first, id, "Started")
        process.kill()
        await process.wait()
        async with cluster.replica("3") as second:
            await nats.client.jetstream().publish("parcels.new", b'{"n": 1}')
            [event] = await routed(second, channel, 1)
            await remove_trigger(second, id)
    assert event["data"] == {"n": 1}
