"""Events under faults: what was acknowledged reaches its channel, in order, and once."""

import asyncio
import base64
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from penstock.areas.eventing.router import Router
from penstock.bus.bus import Bus
from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.bus.message import Delivered
from penstock.bus.streams import Streams
from tests.application import Application, running_application
from tests.areas.events import (
    Event,
    event,
    in_order,
    make_channel,
    messages_of,
    new_name,
    publish,
    routed,
    subscribe,
)
from tests.areas.faults import kill_bus
from tests.areas.waiting import until
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

Acknowledged = dict[int, list[str]]


class Publishers:
    """Clients that each publish one event after the other; what is not acknowledged is published again.

    acknowledged: by publisher, in order.
    """

    def __init__(self, application: Application, kind: str) -> None:
        self.acknowledged: Acknowledged = defaultdict(list)
        self.refused: list[int] = []
        self._application = application
        self._kind = kind
        self._enough = False

    async def run(self, publisher: int) -> None:
        while not self._enough:
            sent = event(self._kind, source=f"/publisher/{publisher}")
            while (answer := await self._publish(sent)).status_code != 200:
                self.refused.append(answer.status_code)
                await asyncio.sleep(0.05)
            self.acknowledged[publisher].append(sent["id"])

    async def _publish(self, sent: Event) -> httpx.Response:
        return await publish(self._application, sent)

    def stop(self) -> None:
        self._enough = True


def by_publisher(events: Sequence[Event]) -> Acknowledged:
    found: Acknowledged = defaultdict(list)
    for each in events:
        found[int(each["source"].rpartition("/")[2])].append(each["id"])
    return found


async def everything(application: Application, channel: str, wanted: Acknowledged) -> Acknowledged:
    """What the channel got, by publisher, once it has at least as much as was acknowledged."""
    count = sum(map(len, wanted.values()))
    return by_publisher(await routed(application, channel, count))


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[Application]:
    """An application whose bus may be killed."""
    async with running_application(tmp_path / "application") as running:
        yield running


async def test_what_is_acknowledged_while_the_bus_is_killed_is_routed_once_and_in_order(own: Application) -> None:
    channel, kind = await make_channel(own), new_name()
    await subscribe(own, channel, EventType=kind)
    publishers = Publishers(own, kind)
    async with asyncio.TaskGroup() as group:
        for publisher in range(8):
            group.create_task(publishers.run(publisher))
        for _ in range(2):
            await asyncio.sleep(0.3)
            await kill_bus(own)
        await asyncio.sleep(0.3)
        publishers.stop()
    await in_order(own)
    assert set(publishers.refused) <= {503}
    assert len(publishers.acknowledged) == 8
    assert await everything(own, channel, publishers.acknowledged) == publishers.acknowledged


async def test_while_the_bus_is_away_publishing_is_unavailable_and_never_acknowledged(own: Application) -> None:
    assert own.platform.nats is not None
    await own.platform.nats.stop()
    answer = await publish(own, event("t"))
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) >= 1


@pytest.fixture
async def replicas(
    tmp_path: Path, postgres_server: PostgresServer
) -> AsyncIterator[tuple[Application, AsyncExitStack, Application]]:
    """Two servers. The first one routes, and is stopped by closing its stack."""
    keys = BusKeys.load_or_create(tmp_path / "bus-keys.json")
    shared: dict[str, Any] = {
        "PENSTOCK_DATABASE_URL": postgres_server.new_database(),
        "PENSTOCK_NATS_KEYS": str(tmp_path / "bus-keys.json"),
        "PENSTOCK_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
    }
    async with EmbeddedServer(tmp_path / "nats", keys) as nats, AsyncExitStack() as stack:
        shared["PENSTOCK_NATS_URL"] = nats.url
        stopping = await stack.enter_async_context(AsyncExitStack())
        first = await stopping.enter_async_context(running_application(tmp_path / "1", **shared))
        await make_channel(first, "first")
        await subscribe(first, "first")
        await publish(first, event("warm-up"))
        await routed(first, "first", 1)
        second = await stack.enter_async_context(running_application(tmp_path / "2", **shared))
        for replica in (first, second):
            await replica.operator.aclose()
            replica.operator = replica.admin  # the second one has made the other users anew
        yield first, stopping, second


async def test_another_replica_routes_on_in_order_when_the_one_that_did_stops(
    replicas: tuple[Application, AsyncExitStack, Application],
) -> None:
    first, stopping, second = replicas
    publishers = [Publishers(first, "counted"), Publishers(second, "counted")]
    channel = await make_channel(second)
    await subscribe(second, channel, EventType="counted")

    async def known_to_the_first() -> bool:
        await publish(first, event("counted", source="/publisher/0"))
        return bool(await messages_of(second, channel))

    await until(known_to_the_first)
    await in_order(second)
    before = len(await messages_of(second, channel))
    async with asyncio.TaskGroup() as group:
        for publisher in range(8):
            group.create_task(publishers[publisher % 2].run(publisher))
        await asyncio.sleep(0.3)
        publishers[0].stop()
        await asyncio.sleep(0.2)
        await stopping.aclose()
        await asyncio.sleep(0.3)
        publishers[1].stop()
    await in_order(second)
    acknowledged = publishers[0].acknowledged | publishers[1].acknowledged
    got = await routed(second, channel, before + sum(map(len, acknowledged.values())))
    assert by_publisher(got[before:]) == acknowledged


async def test_events_that_are_routed_again_are_stored_once(application: Application) -> None:
    channel, kind = await make_channel(application), new_name()
    await subscribe(application, channel, EventType=kind)
    sent = [event(kind, data=number) for number in range(20)]
    await publish(application, *sent)
    await in_order(application)
    again = [
        Delivered(
            subject="event.accepted",
            data=message.data,
            headers={"Penstock-Channels": channel},
            time=message.time,
            sequence=int(message.headers["Penstock-Event"]),
            tries=1,
            pending=0,
        )
        for message in await messages_of(application, channel)
    ]
    await application.platform.container.get(Router).route(again[5:])
    assert [msgspec.json.decode(message.data) for message in await messages_of(application, channel)] == sent


async def test_a_removed_channel_holds_no_other_up(application: Application) -> None:
    channel, sent = await make_channel(application), event(new_name())
    headers = {"Penstock-Channels": f"no-such-channel,{channel}"}
    await application.platform.container.get(Bus).publish("event.accepted", msgspec.json.encode(sent), headers=headers)
    assert await routed(application, channel, 1) == [sent]
    await in_order(application)


async def test_many_channels_get_an_event_each_once(application: Application) -> None:
    kind = new_name()
    channels = [await make_channel(application) for _ in range(50)]
    for channel in channels:
        await subscribe(application, channel, EventType=kind)
    sent = [event(kind) for _ in range(10)]
    await publish(application, *sent)
    for channel in channels:
        assert await routed(application, channel, 10) == sent
    streams = Streams(application.platform.container.get(Bus))
    assert {(await streams.info(f"eventchannel-{channel}")).messages for channel in channels} == {10}
