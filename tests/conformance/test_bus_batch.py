"""Atomic batches against a real server."""

import asyncio

import pytest

from penstock.bus.batch import MOST, Batches, publish_batch
from penstock.bus.bus import Bus
from penstock.bus.message import Ack, Message
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Invalid, TooLarge

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def stream(bus: Bus, unique: str) -> str:
    """An atomic stream whose name is also its subject."""
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique], atomic=True))
    return unique


def numbered(stream: str, count: int, name: str = "m") -> list[Message]:
    return [Message(subject=stream, body=b"%d" % i, message_id=f"{name}{i}") for i in range(count)]


async def stored(bus: Bus, stream: str) -> list[bytes]:
    return [message.data for message in await StreamReader(bus).after(stream, 0, count=10_000)]


@pytest.mark.parametrize("count", [0, 1, 2, MOST, 2 * MOST + 1])
async def test_a_batch_is_stored_in_order_and_each_message_acknowledged(bus: Bus, stream: str, count: int) -> None:
    acks = await publish_batch(bus, numbered(stream, count))
    assert acks == [Ack(stream, index + 1) for index in range(count)]
    assert await stored(bus, stream) == [b"%d" % i for i in range(count)]


async def test_a_batch_with_messages_that_are_stored_already_stores_only_the_others(bus: Bus, stream: str) -> None:
    await publish_batch(bus, numbered(stream, 5))
    acks = await publish_batch(bus, numbered(stream, 8))
    assert [ack.duplicate for ack in acks] == [True] * 5 + [False] * 3
    assert await stored(bus, stream) == [b"%d" % i for i in range(8)]


async def test_the_same_message_id_twice_in_a_batch_is_stored_once(bus: Bus, stream: str) -> None:
    acks = await publish_batch(bus, [*numbered(stream, 1), *numbered(stream, 2)])
    assert [ack.duplicate for ack in acks] == [False, True, False]
    assert await stored(bus, stream) == [b"0", b"1"]


async def test_messages_without_id_are_different_messages(bus: Bus, stream: str) -> None:
    await publish_batch(bus, [Message(subject=stream, body=b"same")] * 3)
    assert len(await stored(bus, stream)) == 3


async def test_a_batch_larger_than_the_server_holds_at_once_is_several(bus: Bus, stream: str) -> None:
    bodies = [bytes([i]) * (1 << 20) for i in range(9)]
    await publish_batch(bus, [Message(subject=stream, body=body) for body in bodies])
    assert await stored(bus, stream) == bodies


async def test_a_stream_that_takes_no_batches_refuses_all_of_one(bus: Bus, unique: str) -> None:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique]))
    with pytest.raises(Invalid):
        await publish_batch(bus, numbered(unique, 3))
    assert await stored(bus, unique) == []


async def test_callers_at_the_same_time_share_batches_and_each_gets_its_own_acknowledgements(
    bus: Bus, stream: str
) -> None:
    batches = Batches(bus)
    answers = await asyncio.gather(*(batches.publish(numbered(stream, 3, f"caller{i}-")) for i in range(200)))
    for acks in answers:
        assert [ack.sequence - acks[0].sequence for ack in acks] == [0, 1, 2]
    assert sorted(ack.sequence for acks in answers for ack in acks) == list(range(1, 601))


async def test_a_message_that_is_refused_harms_only_its_caller(bus: Bus, stream: str) -> None:
    batches = Batches(bus)
    too_large = [Message(subject=stream, body=bytes(9 << 20))]
    answers = await asyncio.gather(
        batches.publish(numbered(stream, 1, "first")),
        batches.publish(numbered(stream, 2, "before")),
        batches.publish(too_large),
        batches.publish(numbered(stream, 2, "after")),
        return_exceptions=True,
    )
    assert isinstance(answers[2], TooLarge)
    assert len(await stored(bus, stream)) == 5


@pytest.mark.parametrize("cancelled", [0, 3, 19])
async def test_a_caller_that_is_cancelled_leaves_the_others_acknowledged(bus: Bus, stream: str, cancelled: int) -> None:
    batches = Batches(bus)
    calls = [asyncio.create_task(batches.publish(numbered(stream, 2, f"caller{i}-"))) for i in range(20)]
    await asyncio.sleep(0)
    calls[cancelled].cancel()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    others = [acks for index, acks in enumerate(answers) if index != cancelled]
    assert all(isinstance(acks, list) and len(acks) == 2 for acks in others)
    assert {m.headers["Nats-Msg-Id"] for m in await StreamReader(bus).after(stream, 0)} >= {
        f"caller{i}-{j}" for i in range(20) for j in range(2) if i != cancelled
    }


async def test_publishing_nothing_is_nothing(bus: Bus) -> None:
    assert await Batches(bus).publish([]) == []
