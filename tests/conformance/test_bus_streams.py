"""Streams and reading them, on a real server."""

import random
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from penstock.bus.bus import Bus
from penstock.bus.follow import Start, follow
from penstock.bus.message import Message
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Invalid, NotFound

pytest_plugins = ("tests.nats",)


@pytest.fixture
def streams(bus: Bus) -> Streams:
    return Streams(bus)


@pytest.fixture
def reader(bus: Bus) -> StreamReader:
    return StreamReader(bus)


@pytest.fixture
async def stream(streams: Streams, unique: str) -> str:
    await streams.ensure(StreamSpec(name=unique, subjects=[f"{unique}.>"]))
    return unique


async def fill(bus: Bus, stream: str, numbers: range, token: str = "x") -> None:
    await bus.publish_all([Message(subject=f"{stream}.{token}", body=b"%d" % n) for n in numbers])


async def delete(bus: Bus, stream: str, *sequences: int) -> None:
    for sequence in sequences:
        await bus.api(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence}, msgspec.Raw)


async def test_ensure_makes_a_stream_once_and_changes_its_limits(streams: Streams, unique: str) -> None:
    spec = StreamSpec(name=unique, subjects=[unique], max_age=timedelta(hours=1), max_messages=7)
    first = await streams.ensure(spec)
    again = await streams.ensure(spec)
    assert first.created == again.created
    changed = await streams.ensure(msgspec.structs.replace(spec, max_messages=9, max_age=None))
    assert (changed.config["max_msgs"], changed.config["max_age"]) == (9, 0)
    assert changed.created == first.created


async def test_a_stream_whose_subject_another_has_is_invalid(streams: Streams, stream: str, unique: str) -> None:
    with pytest.raises(Invalid):
        await streams.ensure(StreamSpec(name=f"{unique}-2", subjects=[f"{stream}.x"]))


async def test_a_name_with_dots_works_everywhere(bus: Bus, streams: Streams, unique: str) -> None:
    name = f"schedule-{unique}.nightly.v1"
    await streams.ensure(StreamSpec(name=name, subjects=[f"stream.{name}"]))
    ack = await bus.publish(f"stream.{name}", b"1")
    assert ack.stream == name
    assert (await streams.info(name)).name == name
    assert name in [info.name for info in await streams.list()]
    assert [m.data for m in await StreamReader(bus).newest(name)] == [b"1"]
    await streams.delete(name)
    with pytest.raises(NotFound):
        await streams.info(name)


async def test_the_list_tells_what_each_stream_holds(bus: Bus, streams: Streams, stream: str) -> None:
    await fill(bus, stream, range(3))
    info = next(info for info in await streams.list() if info.name == stream)
    assert (info.messages, info.consumers, info.replicas, info.is_mirror) == (3, 0, 1, False)
    assert info.bytes > 0
    assert abs(info.created_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert msgspec.json.decode(info.configuration)["subjects"] == [f"{stream}.>"]


async def test_deleting_a_stream_that_is_not_there_does_nothing(streams: Streams, unique: str) -> None:
    await streams.delete(unique)


async def test_reading_an_unknown_stream_is_not_found(reader: StreamReader, unique: str) -> None:
    with pytest.raises(NotFound):
        await reader.newest(unique)


async def test_an_empty_stream_reads_as_nothing(reader: StreamReader, stream: str) -> None:
    assert await reader.newest(stream) == []
    assert await reader.after(stream, 0) == []


async def test_messages_come_with_everything_that_was_published(bus: Bus, reader: StreamReader, stream: str) -> None:
    await bus.publish(f"{stream}.x", b"\x00\xff", headers={"Kind": "fün"}, message_id="m1")
    [message] = await reader.newest(stream)
    assert (message.subject, message.data, message.sequence) == (f"{stream}.x", b"\x00\xff", 1)
    assert message.headers == {"Kind": "fün", "Nats-Msg-Id": "m1"}
    assert abs(message.time - datetime.now(UTC)) < timedelta(minutes=1)


async def test_headers_that_look_like_the_servers_do_not_mislead_the_reader(
    bus: Bus, reader: StreamReader, stream: str
) -> None:
    forged = {"Status": "503", "Nats-Sequence": "99", "Nats-Stream": "other", "Nats-Num-Pending": "0"}
    await bus.publish(f"{stream}.x", b"", headers=forged)
    await bus.publish(f"{stream}.x", b"", headers={"Status": "404"})
    assert [m.sequence for m in await reader.newest(stream)] == [2, 1]


async def test_pages_by_skip_and_count_are_newest_first(bus: Bus, reader: StreamReader, stream: str) -> None:
    await fill(bus, stream, range(1, 1201))
    page = await reader.newest(stream, skip=5, count=700)
    assert [m.sequence for m in page] == list(range(1195, 495, -1))
    assert [m.sequence for m in await reader.newest(stream, skip=1190, count=100)] == list(range(10, 0, -1))
    assert await reader.newest(stream, skip=1200) == []


async def test_pages_over_any_gaps_hold_what_is_left(bus: Bus, reader: StreamReader, stream: str) -> None:
    await fill(bus, stream, range(1, 121))
    gone = {1, 2, 120, *random.sample(range(3, 120), 60)}
    await delete(bus, stream, *gone)
    left = [n for n in range(120, 0, -1) if n not in gone]
    for skip, count in [(0, 10), (0, 200), (7, 13), (50, 5), (56, 100), (57, 1), (80, 5)]:
        page = await reader.newest(stream, skip=skip, count=count)
        assert [m.sequence for m in page] == left[skip : skip + count], (skip, count)


async def test_messages_larger_than_a_page_holds_are_read_too(bus: Bus, reader: StreamReader, stream: str) -> None:
    await bus.publish_all([Message(subject=f"{stream}.x", body=bytes(7 * 1024 * 1024)) for _ in range(4)])
    assert [m.sequence for m in await reader.newest(stream)] == [4, 3, 2, 1]


async def test_pages_of_one_subject_pass_over_the_others(bus: Bus, reader: StreamReader, stream: str) -> None:
    for n in range(30):
        await bus.publish(f"{stream}.{'a' if n % 3 else 'b'}", b"%d" % n)
    page = await reader.newest(stream, subject=f"{stream}.b", skip=2, count=3)
    assert [m.data for m in page] == [b"21", b"18", b"15"]


async def test_since_and_until_bound_a_page(bus: Bus, reader: StreamReader, stream: str) -> None:
    await fill(bus, stream, range(1, 31))
    await delete(bus, stream, 12, 13, 20)
    every = {m.sequence: m for m in await reader.newest(stream)}
    since, until = every[11].time, every[21].time
    between = [n for n in range(21, 10, -1) if n in every]
    for skip, count in [(0, 100), (2, 3), (7, 9), (8, 1)]:
        page = await reader.newest(stream, since=since, until=until, skip=skip, count=count)
        assert [m.sequence for m in page] == between[skip : skip + count], (skip, count)
    later = datetime.now(UTC) + timedelta(hours=1)
    earlier = later - timedelta(hours=2)
    assert await reader.newest(stream, since=later) == []
    assert await reader.newest(stream, until=earlier) == []
    assert len(await reader.newest(stream, since=earlier, until=later)) == 27


async def test_reading_after_a_sequence_goes_on_over_gaps(bus: Bus, reader: StreamReader, stream: str) -> None:
    await fill(bus, stream, range(1, 21))
    await delete(bus, stream, 5, 6, 7)
    assert [m.sequence for m in await reader.after(stream, 3, count=4)] == [4, 8, 9, 10]
    assert [m.sequence for m in await reader.after(stream, 18)] == [19, 20]
    assert await reader.after(stream, 20) == []


async def test_following_gives_what_is_there_and_what_comes(bus: Bus, stream: str) -> None:
    await fill(bus, stream, range(1, 4))
    async with follow(bus, stream, Start(after=1)) as feed:
        assert [(await anext(feed)).sequence for _ in range(2)] == [2, 3]
        await fill(bus, stream, range(4, 300))
        assert [(await anext(feed)).sequence for _ in range(296)] == list(range(4, 300))


async def test_following_tells_when_the_stream_is_deleted(bus: Bus, streams: Streams, stream: str) -> None:
    async with follow(bus, stream, Start(new=True)) as feed:
        await streams.delete(stream)
        with pytest.raises(NotFound):
            await anext(feed)
