"""Durable consumers on a real server."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer, ConsumerSpec, Later, Unprocessable
from penstock.bus.message import Delivered, Message
from penstock.bus.streams import Streams, StreamSpec
from tests.nats_server import eventually

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def stream(bus: Bus, unique: str) -> str:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[f"{unique}.>"]))
    return unique


async def publish(bus: Bus, stream: str, count: int) -> list[bytes]:
    bodies = [b"%d" % i for i in range(count)]
    await bus.publish_all([Message(subject=f"{stream}.x", body=body) for body in bodies])
    return bodies


async def test_every_message_is_handled_once_and_in_order(bus: Bus, stream: str) -> None:
    bodies = await publish(bus, stream, 200)
    seen: list[bytes] = []

    async def handle(message: Delivered) -> None:
        seen.append(message.data)

    running = asyncio.create_task(Consumer(bus, ConsumerSpec(stream=stream, name="c")).run(handle))
    await eventually(lambda: len(seen) >= 200)
    running.cancel()
    await asyncio.wait([running])
    assert seen == bodies


async def test_replicas_share_the_messages(bus: Bus, stream: str) -> None:
    bodies = await publish(bus, stream, 300)
    seen: Counter[bytes] = Counter()
    takers: set[int] = set()

    async def replica(number: int) -> None:
        async def handle(messages: Sequence[Delivered]) -> None:
            takers.add(number)
            seen.update(message.data for message in messages)
            await asyncio.sleep(0.01)

        await Consumer(bus, ConsumerSpec(stream=stream, name="c")).run_batches(handle, batch=10)

    running = [asyncio.create_task(replica(number)) for number in range(2)]
    await eventually(lambda: seen.total() >= 300)
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    assert seen == Counter(bodies)
    assert takers == {0, 1}


async def test_a_message_whose_handler_raised_comes_again(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 1)
    tries: list[int] = []

    async def handle(message: Delivered) -> None:
        tries.append(message.tries)
        if message.tries < 2:
            raise RuntimeError("not yet")

    consumer = Consumer(bus, ConsumerSpec(stream=stream, name="c"))
    running = asyncio.create_task(consumer.run(handle))
    await eventually(lambda: consumer.handled == 1)
    running.cancel()
    await asyncio.wait([running])
    assert tries == [1, 2]


async def test_a_handler_that_waited_for_something_cancelled_does_not_end_the_consumer(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 2)
    seen: list[bytes] = []

    async def handle(message: Delivered) -> None:
        if message.data == b"0" and message.tries == 1:
            cancelled = asyncio.get_running_loop().create_future()
            cancelled.cancel()
            await cancelled
        seen.append(message.data)

    running = asyncio.create_task(Consumer(bus, ConsumerSpec(stream=stream, name="c")).run(handle))
    await eventually(lambda: seen == [b"1", b"0"])
    running.cancel()
    await asyncio.wait([running])


async def test_an_unprocessable_message_does_not_come_again(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 1)
    seen: list[int] = []

    async def handle(message: Delivered) -> None:
        seen.append(message.tries)
        raise Unprocessable("not a report")

    spec = ConsumerSpec(stream=stream, name="c", ack_seconds=0.5)
    running = asyncio.create_task(Consumer(bus, spec).run(handle))
    await eventually(lambda: len(seen) == 1)
    await asyncio.sleep(1.5)
    running.cancel()
    await asyncio.wait([running])
    assert seen == [1]


async def test_a_message_whose_time_has_not_come_holds_up_no_other_and_comes_again(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 3)
    seen: list[tuple[bytes, int]] = []

    async def handle(message: Delivered) -> None:
        seen.append((message.data, message.tries))
        if message.data == b"0" and message.tries < 3:
            raise Later(0.2)

    consumer = Consumer(bus, ConsumerSpec(stream=stream, name="c"))
    running = asyncio.create_task(consumer.run(handle))
    await eventually(lambda: consumer.handled == 3)
    running.cancel()
    await asyncio.wait([running])
    assert seen == [(b"0", 1), (b"1", 1), (b"2", 1), (b"0", 2), (b"0", 3)]
    assert consumer.failed == 0


async def test_a_handler_slower_than_the_ack_wait_keeps_its_messages(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 3)
    seen: list[bytes] = []

    async def handle(message: Delivered) -> None:
        seen.append(message.data)
        await asyncio.sleep(1.0)

    consumer = Consumer(bus, ConsumerSpec(stream=stream, name="c", ack_seconds=0.5))
    running = asyncio.create_task(consumer.run(handle))
    await eventually(lambda: consumer.handled == 3)
    running.cancel()
    await asyncio.wait([running])
    assert seen == [b"0", b"1", b"2"]


async def test_a_stopped_replica_gives_its_messages_to_the_next(bus: Bus, stream: str) -> None:
    await publish(bus, stream, 5)
    started = asyncio.Event()

    async def hang(message: Delivered) -> None:
        started.set()
        await asyncio.Event().wait()

    spec = ConsumerSpec(stream=stream, name="c", ack_seconds=300)
    stuck = asyncio.create_task(Consumer(bus, spec).run(hang))
    await started.wait()
    stuck.cancel()
    await asyncio.wait([stuck])

    seen: set[bytes] = set()

    async def handle(message: Delivered) -> None:
        seen.add(message.data)

    running = asyncio.create_task(Consumer(bus, spec).run(handle))
    await eventually(lambda: len(seen) == 5)
    running.cancel()
    await asyncio.wait([running])
