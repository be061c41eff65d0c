"""One-shot schedules that the server keeps."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer
from penstock.bus.due import STREAM, Due, due_consumer
from penstock.bus.message import Delivered
from penstock.bus.streams import Streams
from tests.nats_server import eventually

pytest_plugins = ("tests.nats",)


class Topic:
    """A topic with a running consumer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.arrived: list[tuple[bytes, datetime]] = []

    async def take(self, message: Delivered) -> None:
        self.arrived.append((message.data, datetime.now(UTC)))

    @property
    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.arrived]


@pytest.fixture
async def due(bus: Bus) -> Due:
    due = Due(bus)
    await due.ensure()
    return due


@pytest.fixture
async def topic(bus: Bus, due: Due, unique: str) -> AsyncIterator[Topic]:
    topic = Topic(unique)
    running = asyncio.create_task(Consumer(bus, due_consumer(unique)).run(topic.take))
    yield topic
    running.cancel()
    await asyncio.wait([running])


def in_seconds(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_a_body_arrives_at_its_due_time_and_not_before(due: Due, topic: Topic) -> None:
    at = in_seconds(1.2)
    await due.schedule(f"a.{topic.name}", at, topic.name, b"body")
    await eventually(lambda: len(topic.arrived) == 1)
    [(body, arrived)] = topic.arrived
    assert body == b"body"
    assert arrived >= at - timedelta(milliseconds=5)


async def test_a_due_time_that_has_passed_is_delivered_at_once(due: Due, topic: Topic) -> None:
    await due.schedule(f"a.{topic.name}", in_seconds(-3600), topic.name, b"late")
    await eventually(lambda: topic.bodies == [b"late"])


async def test_scheduling_a_key_again_replaces_what_it_had(due: Due, topic: Topic) -> None:
    await due.schedule(f"a.{topic.name}", in_seconds(0.8), topic.name, b"old")
    await due.schedule(f"a.{topic.name}", in_seconds(1.2), topic.name, b"new")
    await due.schedule(f"b.{topic.name}", in_seconds(1.6), topic.name, b"end")
    await eventually(lambda: b"end" in topic.bodies)
    assert topic.bodies == [b"new", b"end"]


async def test_a_cancelled_schedule_is_not_delivered(due: Due, topic: Topic) -> None:
    await due.schedule(f"a.{topic.name}", in_seconds(0.8), topic.name, b"no")
    await due.cancel(f"a.{topic.name}")
    await due.cancel(f"never-there.{topic.name}")
    await due.schedule(f"b.{topic.name}", in_seconds(1.2), topic.name, b"end")
    await eventually(lambda: b"end" in topic.bodies)
    assert topic.bodies == [b"end"]


async def test_nothing_handled_stays_in_the_stream(bus: Bus, due: Due, topic: Topic) -> None:
    for n in range(5):
        await due.schedule(f"{n}.{topic.name}", in_seconds(-1), topic.name, b"x")
    await eventually(lambda: len(topic.arrived) == 5)
    streams = Streams(bus)
    async with asyncio.timeout(10):
        while (await streams.info(STREAM)).messages:
            await asyncio.sleep(0.05)
