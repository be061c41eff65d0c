"""A gateway kept at the servers' table: what cannot be served or read is told, and what was served goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec
import pytest

from penstock.areas.apim.table.parts import TableParts
from penstock.bus.bus import Bus
from penstock.bus.message import Received
from penstock.gateway.access import BusAccess
from penstock.gateway.link import Link
from penstock.gateway.table_file import TableFile
from penstock.gateway.table_keeper import TableKeeper
from penstock.kernel.clock import SystemClock
from penstock.kernel.wire import encode
from penstock.protocol.gateway import GatewayKey, GatewaySubscription, GatewayTable, TablePart, TableQuestion
from penstock.protocol.subjects import GATEWAYS_CHANGED, TABLE, gateway_ask
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import HttpSink, http_sink
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)


class Servers:
    """Answers a gateway's questions with a table."""

    def __init__(self, bus: Bus, gateway: str) -> None:
        self._bus = bus
        self._gateway = gateway
        self._parts = TableParts.of(GatewayTable())

    @property
    def stamp(self) -> str:
        return self._parts.stamp

    @property
    def parts(self) -> int:
        return self._parts.count

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        async def answer(request: Received) -> bytes:
            return encode(self._answer(msgspec.json.decode(request.data, type=TableQuestion)))

        responding = await self._bus.respond(gateway_ask(self._gateway, TABLE), answer, queue=self._gateway)
        try:
            yield
        finally:
            await responding.stop()

    async def tell(self, table: GatewayTable) -> None:
        self._parts = TableParts.of(table)
        await self._bus.notify(GATEWAYS_CHANGED)

    def _answer(self, question: TableQuestion) -> TablePart:
        return self._parts.answer(question)


class Access:
    def __init__(self, server: NatsServer, gateway: str) -> None:
        credential = server.keys.gateway_user(gateway, None)
        self._access = BusAccess([server.url], credential.jwt, credential.seed)

    def read(self) -> BusAccess:
        return self._access


@asynccontextmanager
async def keeping(server: NatsServer, name: str, gateway: Served, folder: Path) -> AsyncIterator[TableKeeper]:
    link = Link(Access(server, name), name)
    keeper = TableKeeper(name, link, gateway.gateway, TableFile(folder), SystemClock())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(link.serve(keeper.look)), group.create_task(keeper.serve())]
        yield keeper
        for task in tasks:
            task.cancel()


@pytest.fixture
async def upstream() -> AsyncIterator[HttpSink]:
    async with http_sink() as sink:
        yield sink


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path / "envoy") as running:
        yield running


@pytest.fixture
def servers(bus: Bus, unique: str) -> Servers:
    return Servers(bus, unique)


def table(*ports: int, subscriptions: tuple[GatewaySubscription, ...] = (), **changes: Any) -> GatewayTable:
    given = list(subscriptions or (subscription("acme", KEY["X-API-Key"]),))
    return GatewayTable(versions=[version(*ports, **changes)], subscriptions=given)


async def test_a_change_is_served_when_it_is_told(
    nats_server: NatsServer, servers: Servers, gateway: Served, upstream: HttpSink, unique: str, tmp_path: Path
) -> None:
    async with servers.answering(), keeping(nats_server, unique, gateway, tmp_path) as keeper:
        await servers.tell(table(upstream.port))
        await eventually(lambda: keeper.standing.stamp == servers.stamp)
        assert await gateway.status(PATH, KEY) == 204
        await servers.tell(table(upstream.port, subscriptions=(subscription("acme", "another"),)))
        await eventually(lambda: keeper.standing.stamp == servers.stamp)
        assert await gateway.status(PATH, KEY) == 401
        assert keeper.standing.problem is None


async def test_a_table_that_cannot_be_served_leaves_the_one_before_also_over_a_restart(
    nats_server: NatsServer, servers: Servers, upstream: HttpSink, unique: str, tmp_path: Path
) -> None:
    async with (
        served(tmp_path / "envoy") as gateway,
        servers.answering(),
        keeping(nats_server, unique, gateway, tmp_path) as keeper,
    ):
        await servers.tell(table(upstream.port))
        await eventually(lambda: keeper.standing.stamp == servers.stamp)
        before = servers.stamp
        await servers.tell(table(99_999))
        await eventually(lambda: keeper.standing.problem is not None)
        assert keeper.standing.stamp == before
        assert await gateway.status(PATH, KEY) == 204
    async with served(tmp_path / "envoy") as gateway, keeping(nats_server, unique, gateway, tmp_path) as keeper:
        await eventually(lambda: keeper.standing.stamp == before)
        assert await gateway.status(PATH, KEY) == 204
        assert keeper.standing.problem is not None
        async with servers.answering():
            await servers.tell(table(upstream.port, deprecated=datetime(2026, 1, 31, tzinfo=UTC)))
            await eventually(lambda: keeper.standing.stamp == servers.stamp)
            assert keeper.standing.problem is None


async def test_a_table_that_an_older_gateway_cannot_read_is_told(
    nats_server: NatsServer,
    servers: Servers,
    gateway: Served,
    upstream: HttpSink,
    unique: str,
    tmp_path: Path,
) -> None:
    class NewerTable(GatewayTable):
        teapots: list[str] = []

    async with servers.answering(), keeping(nats_server, unique, gateway, tmp_path) as keeper:
        known = table(upstream.port)
        await servers.tell(known)
        await eventually(lambda: keeper.standing.stamp == servers.stamp)
        await servers.tell(NewerTable(versions=known.versions, subscriptions=known.subscriptions, teapots=["blue"]))
        await eventually(lambda: "older" in (keeper.standing.problem or ""))
        assert await gateway.status(PATH, KEY) == 204
        await servers.tell(table(upstream.port, retries=2))
        await eventually(lambda: keeper.standing.problem is None)
        assert keeper.standing.stamp == servers.stamp


async def test_a_large_table_comes_in_parts(
    nats_server: NatsServer, servers: Servers, gateway: Served, upstream: HttpSink, unique: str, tmp_path: Path
) -> None:
    keys = [token_hex(200) for _ in range(3000)]
    many = tuple(subscription(f"s{number}", key) for number, key in enumerate(keys))
    async with servers.answering(), keeping(nats_server, unique, gateway, tmp_path) as keeper:
        await servers.tell(table(upstream.port, subscriptions=many))
        await eventually(lambda: keeper.standing.stamp == servers.stamp)
        assert servers.parts > 1
        assert await gateway.status(PATH, {"X-API-Key": keys[-1]}) == 204


async def test_a_key_ends_at_its_time_without_a_word(
    nats_server: NatsServer, servers: Servers, gateway: Served, upstream: HttpSink, unique: str, tmp_path: Path
) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=3)
    keys = [GatewayKey(key="new"), GatewayKey(key=KEY["X-API-Key"], expires=ends)]
    acme = msgspec.structs.replace(subscription("acme"), keys=keys)
    async with keeping(nats_server, unique, gateway, tmp_path) as keeper:
        async with servers.answering():
            await servers.tell(table(upstream.port, subscriptions=(acme,)))
            await eventually(lambda: keeper.standing.stamp == servers.stamp)
        assert await gateway.status(PATH, KEY) == 204
        async with asyncio.timeout(30):
            while await gateway.status(PATH, KEY) != 401:
                await asyncio.sleep(0.05)
        assert datetime.now(UTC) >= ends
        assert await gateway.status(PATH, {"X-API-Key": "new"}) == 204
