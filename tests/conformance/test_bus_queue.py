"""Queues that are asked for messages, on a real server."""

from datetime import timedelta

import pytest

from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.bus.queue import Queue, Taken
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import NotFound

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def stream(bus: Bus, unique: str) -> str:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique]))
    return unique


async def publish(bus: Bus, stream: str, *texts: str) -> None:
    await bus.publish_all([Message(subject=stream, body=text.encode()) for text in texts], in_flight=1)


def texts(taken: Taken) -> list[str]:
    return [message.data.decode() for message in taken.messages]


async def test_messages_are_given_out_in_order_until_they_are_acknowledged(bus: Bus, stream: str) -> None:
    queue = Queue(bus, stream, "q")
    await queue.make("all")
    await publish(bus, stream, "1", "2", "3")
    first = await queue.take(2)
    assert texts(first) == ["1", "2"]
    await first.acknowledge()
    second = await queue.take(9)
    assert texts(second) == ["3"]
    await second.give_back()
    third = await queue.take(9)
    assert (texts(third), third.messages[0].tries) == (["3"], 2)
    await third.acknowledge()
    assert texts(await queue.take(9)) == []


async def test_what_is_in_hand_is_not_given_to_another(bus: Bus, stream: str) -> None:
    queue = Queue(bus, stream, "q")
    await queue.make("all")
    await publish(bus, stream, "1", "2")
    assert texts(await queue.take(1)) == ["1"]
    assert texts(await Queue(bus, stream, "q").take(9)) == ["2"]


async def test_messages_that_are_never_acknowledged_come_again(bus: Bus, stream: str) -> None:
    queue = Queue(bus, stream, "q", ack_seconds=0.2)
    await queue.make("all")
    await publish(bus, stream, "1")
    assert texts(await queue.take(9)) == ["1"]
    while not (again := texts(await queue.take(9))):
        pass
    assert again == ["1"]


async def test_a_queue_may_begin_with_what_comes_from_now_on(bus: Bus, stream: str) -> None:
    await publish(bus, stream, "old")
    queue = Queue(bus, stream, "q")
    await queue.make("new")
    await publish(bus, stream, "new")
    await queue.make("new")
    await queue.make("all")
    assert texts(await queue.take(9)) == ["new"]


async def test_much_is_given_out_in_bounded_parts(bus: Bus, stream: str) -> None:
    queue = Queue(bus, stream, "q")
    await queue.make("all")
    big = "x" * (5 * 1024 * 1024)
    await publish(bus, stream, *[big] * 4)
    assert len(texts(await queue.take(100))) == 3
    assert len(texts(await queue.take(100))) == 1


async def test_a_queue_is_forgotten_when_nobody_asks_it(bus: Bus, stream: str) -> None:
    queue = Queue(bus, stream, "q", forget_after=timedelta(milliseconds=100))
    await queue.make("all")
    while await queue.exists():
        pass
    with pytest.raises(NotFound):
        await queue.take(1)
    await publish(bus, stream, "1")
    await queue.make("all")
    assert texts(await queue.take(1)) == ["1"]


async def test_a_queue_needs_its_stream(bus: Bus, unique: str) -> None:
    with pytest.raises(NotFound):
        await Queue(bus, unique, "q").make("all")
