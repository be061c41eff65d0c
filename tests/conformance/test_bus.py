"""The bus against real servers: an embedded one and one run from the printed configuration."""

import asyncio

import pytest

from penstock.bus.bus import Bus
from penstock.bus.message import Message, Received
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import NotFound, TooLarge, Unavailable
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)


async def test_a_published_message_is_acknowledged_with_its_stream_and_sequence(bus: Bus, unique: str) -> None:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[f"{unique}.>"]))
    first = await bus.publish(f"{unique}.a", b"1")
    second = await bus.publish(f"{unique}.b", b"2")
    assert (first.stream, first.sequence, second.sequence) == (unique, 1, 2)


async def test_the_same_message_id_is_stored_once(bus: Bus, unique: str) -> None:
    streams = Streams(bus)
    await streams.ensure(StreamSpec(name=unique, subjects=[unique]))
    first = await bus.publish(unique, b"1", message_id="same")
    again = await bus.publish(unique, b"1", message_id="same")
    assert not first.duplicate
    assert again.duplicate
    assert (await streams.info(unique)).messages == 1


async def test_publish_all_acknowledges_in_the_order_given(bus: Bus, unique: str) -> None:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique]))
    acks = await bus.publish_all([Message(subject=unique, body=b"%d" % i) for i in range(300)])
    assert [ack.sequence for ack in acks] == list(range(1, 301))


async def test_publish_to_a_subject_that_nothing_stores_is_unavailable(bus: Bus, unique: str) -> None:
    with pytest.raises(Unavailable):
        await bus.publish(unique, b"", timeout=1)


async def test_a_message_above_the_servers_limit_is_too_large(bus: Bus, unique: str) -> None:
    with pytest.raises(TooLarge):
        await bus.notify(unique, bytes(8 * 1024 * 1024 + 1))


async def test_a_request_is_answered_by_one_of_its_queue_group(bus: Bus, unique: str) -> None:
    async def double(request: Received) -> bytes:
        return request.data * 2

    responders = [await bus.respond(unique, double, queue="servers") for _ in range(2)]
    answers = await asyncio.gather(*(bus.request(unique, b"x") for _ in range(20)))
    assert {answer.data for answer in answers} == {b"xx"}
    for responder in responders:
        await responder.stop()
    with pytest.raises(Unavailable):
        await bus.request(unique, b"x", timeout=1)


async def test_what_a_responder_raises_reaches_the_requester(bus: Bus, unique: str) -> None:
    async def refuse(request: Received) -> bytes:
        raise NotFound("no such\nthing")

    responder = await bus.respond(unique, refuse, queue="servers")
    with pytest.raises(NotFound, match="no such"):
        await bus.request(unique)
    await responder.stop()


async def test_subscribers_get_notices_in_order(bus: Bus, nats_server: NatsServer, unique: str) -> None:
    seen: list[bytes] = []

    async def note(message: Received) -> None:
        seen.append(message.data)

    async with await nats_server.connect("other") as other:
        subscription = await other.subscribe(unique, note)
        for i in range(100):
            await bus.notify(unique, b"%d" % i)
        await eventually(lambda: len(seen) == 100)
        assert seen == [b"%d" % i for i in range(100)]
        await subscription.stop()


async def test_a_handler_that_raises_does_not_end_its_subscription(bus: Bus, unique: str) -> None:
    seen: list[bytes] = []

    async def handle(message: Received) -> None:
        if message.data == b"0":
            raise RuntimeError("no")
        if message.data == b"1":
            raise asyncio.CancelledError
        seen.append(message.data)

    subscription = await bus.subscribe(unique, handle)
    for number in range(3):
        await bus.notify(unique, b"%d" % number)
    await eventually(lambda: seen == [b"2"])
    assert subscription.failures == 2
    await subscription.stop()


async def test_stopping_a_subscription_lets_what_was_received_be_handled(bus: Bus, unique: str) -> None:
    seen: list[bytes] = []

    async def handle(message: Received) -> None:
        await asyncio.sleep(0.01)
        seen.append(message.data)

    subscription = await bus.subscribe(unique, handle)
    for number in range(20):
        await bus.notify(unique, b"%d" % number)
    await subscription.stop()
    assert seen == [b"%d" % number for number in range(20)]


async def test_a_subscription_cancelled_half_way_does_not_harm_the_connection(bus: Bus, unique: str) -> None:
    async def ignore(message: Received) -> None:
        pass

    session = await bus.session()
    for delay in range(5):
        subscribing = asyncio.create_task(bus.subscribe(unique, ignore))
        for _ in range(delay):
            await asyncio.sleep(0)
        subscribing.cancel()
        await asyncio.wait([subscribing])
    subscription = await bus.subscribe(unique, ignore)
    await subscription.stop()
    assert await bus.session() is session


async def test_the_printed_configuration_makes_a_server_that_takes_our_credentials(
    external_nats_server: NatsServer, unique: str
) -> None:
    async with await external_nats_server.connect() as bus:
        await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique]))
        assert (await bus.publish(unique, b"1")).sequence == 1
