"""Reading in order by one replica at a time, against a real server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from penstock.bus.batch import publish_batch
from penstock.bus.bus import Bus
from penstock.bus.message import Delivered, Message
from penstock.bus.seat import Seat, SeatLost
from penstock.bus.single_reader import SingleReader
from penstock.bus.streams import Streams, StreamSpec
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)

Handle = Callable[[Sequence[Delivered]], Awaitable[None]]


@pytest.fixture
async def stream(bus: Bus, unique: str) -> str:
    await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique], atomic=True))
    return unique


async def publish(bus: Bus, stream: str, numbers: range) -> None:
    await publish_batch(bus, [Message(subject=stream, body=b"%d" % i) for i in numbers])


class Log:
    """What readers handled: by whom, and in which order."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []

    def handler(self, reader: str) -> Handle:
        async def handle(messages: Sequence[Delivered]) -> None:
            self.entries += [(reader, int(message.data)) for message in messages]

        return handle

    @property
    def numbers(self) -> list[int]:
        return [number for _, number in self.entries]

    @property
    def readers(self) -> set[str]:
        return {reader for reader, _ in self.entries}


@asynccontextmanager
async def reading(bus: Bus, stream: str, handle: Handle, batch: int = 10) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(SingleReader(bus, stream, stream).run(handle, batch=batch))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_messages_are_handled_in_order_in_batches_of_the_size_given(bus: Bus, stream: str) -> None:
    sizes: list[int] = []
    log = Log()

    async def handle(messages: Sequence[Delivered]) -> None:
        sizes.append(len(messages))
        await log.handler("a")(messages)

    await publish(bus, stream, range(100))
    async with reading(bus, stream, handle):
        await eventually(lambda: len(log.entries) == 100)
        await publish(bus, stream, range(100, 120))
        await eventually(lambda: len(log.entries) == 120)
    assert log.numbers == list(range(120))
    assert max(sizes) == 10


async def test_only_one_of_several_readers_handles_and_another_goes_on_where_it_stops(bus: Bus, stream: str) -> None:
    log = Log()
    async with reading(bus, stream, log.handler("first")) as first:
        await publish(bus, stream, range(50))
        await eventually(lambda: len(log.entries) == 50)
        async with reading(bus, stream, log.handler("second")):
            await publish(bus, stream, range(50, 100))
            await eventually(lambda: len(log.entries) == 100)
            assert log.readers == {"first"}
            first.cancel()
            await asyncio.wait([first])
            await publish(bus, stream, range(100, 150))
            await eventually(lambda: len(log.entries) == 150)
    assert log.numbers == list(range(150))
    assert {reader for reader, number in log.entries if number >= 100} == {"second"}


async def test_the_place_of_a_reader_whose_connection_is_gone_is_taken(
    nats_server: NatsServer, bus: Bus, stream: str
) -> None:
    log = Log()
    gone = await nats_server.connect()
    async with reading(gone, stream, log.handler("first")) as first:
        await publish(bus, stream, range(10))
        await eventually(lambda: len(log.entries) == 10)
        await gone.close()  # it cannot leave its seat
        first.cancel()
        await asyncio.wait([first])
    await publish(bus, stream, range(10, 20))
    async with reading(bus, stream, log.handler("second")):
        await eventually(lambda: log.numbers[-1] == 19)
    # What the first had not recorded comes again, in order.
    again = [number for reader, number in log.entries if reader == "second"]
    assert again == list(range(again[0], 20))
    assert again[0] <= 10


async def test_a_batch_that_fails_is_tried_again_and_nothing_overtakes_it(bus: Bus, stream: str) -> None:
    log = Log()
    failures = 3

    async def handle(messages: Sequence[Delivered]) -> None:
        nonlocal failures
        if int(messages[0].data) == 10 and failures:
            failures -= 1
            raise OSError("not now")
        await log.handler("a")(messages)

    await publish(bus, stream, range(30))
    async with reading(bus, stream, handle):
        await eventually(lambda: len(log.entries) == 30)
    assert log.numbers == list(range(30))
    assert failures == 0


async def test_a_stream_that_was_made_anew_is_read_from_its_beginning(bus: Bus, stream: str) -> None:
    log = Log()
    await publish(bus, stream, range(10))
    async with reading(bus, stream, log.handler("a")):
        await eventually(lambda: len(log.entries) == 10)
    await Streams(bus).delete(stream)
    await Streams(bus).ensure(StreamSpec(name=stream, subjects=[stream], atomic=True))
    await publish(bus, stream, range(5))
    async with reading(bus, stream, log.handler("b")):
        await eventually(lambda: len(log.entries) == 15)
    assert log.numbers[10:] == list(range(5))


async def test_the_seat_of_one_that_is_gone_can_be_taken_at_its_recorded_position(
    nats_server: NatsServer, bus: Bus, unique: str
) -> None:
    async with await nats_server.connect() as gone:
        first = Seat(gone, unique)
        assert await first.take() == 0
        await first.record(7)
    second = Seat(bus, unique)
    assert await second.take() == 7
    await second.leave(7)


async def test_who_no_longer_has_the_seat_learns_of_it_when_recording(bus: Bus, unique: str) -> None:
    first, second = Seat(bus, unique), Seat(bus, unique)
    await first.take()
    await first.leave(9)
    assert await second.take() == 9
    with pytest.raises(SeatLost):
        await first.record(10)
    await second.leave(9)


async def test_a_paced_reader_handles_the_first_at_once_and_what_follows_together(bus: Bus, stream: str) -> None:
    batches: list[list[int]] = []

    async def handle(messages: Sequence[Delivered]) -> None:
        batches.append([int(message.data) for message in messages])

    task = asyncio.create_task(SingleReader(bus, stream, stream).run(handle, batch=10, pace=0.5))
    await publish(bus, stream, range(1))
    await eventually(lambda: batches == [[0]])
    await publish(bus, stream, range(1, 3))
    await publish(bus, stream, range(3, 5))
    await eventually(lambda: sum(map(len, batches)) == 5)
    await publish(bus, stream, range(5, 35))
    await eventually(lambda: sum(map(len, batches)) == 35)
    task.cancel()
    await asyncio.wait([task])
    assert batches[1] == [1, 2, 3, 4]
    assert [number for batch in batches for number in batch] == list(range(35))


async def test_a_paced_reader_catches_up_with_more_than_it_fetches_at_once(bus: Bus, stream: str) -> None:
    log = Log()
    await publish(bus, stream, range(95))
    task = asyncio.create_task(SingleReader(bus, stream, stream).run(log.handler("one"), batch=10, pace=0.01))
    await eventually(lambda: len(log.entries) == 95)
    await publish(bus, stream, range(95, 100))
    await eventually(lambda: len(log.entries) == 100)
    task.cancel()
    await asyncio.wait([task])
    assert log.numbers == list(range(100))
