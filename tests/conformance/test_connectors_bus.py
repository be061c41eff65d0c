import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.bus.message import Received
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams, StreamSpec
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.connectors.mailbox import mailbox_stream
from penstock.connectors.registry import Family, built, registry
from penstock.connectors.stream_writer import StreamWriter
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Invalid
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key

pytest_plugins = ("tests.nats",)


def event(id: str = "1", **attributes: Any) -> CloudEvent:
    return CloudEvent(**{"id": id, "source": "/lamps", "type": "lamp.on", "data": {"level": 3}, **attributes})


@asynccontextmanager
async def endpoint(bus: Bus, identifier: str, channel: str = "lamps", **configuration: Any) -> AsyncIterator[Deliver]:
    use = built(registry().kind(Family.ENDPOINT, identifier, None), configuration)
    assert isinstance(use, EndpointKind)
    surroundings = Surroundings(channel, bus, AddressGuard(allow_private=False), SystemClock())
    async with use.open(surroundings) as deliver:
        yield deliver


def refused(identifier: str, **configuration: Any) -> list[str]:
    with pytest.raises(Invalid) as caught:
        built(registry().kind(Family.ENDPOINT, identifier, None), configuration)
    return [error.field for error in caught.value.errors]


# nats


@pytest.mark.parametrize("binary", [False, True])
async def test_listeners_get_events_on_their_subject(bus: Bus, unique: str, binary: bool) -> None:
    heard: asyncio.Queue[Received] = asyncio.Queue()
    subscription = await bus.subscribe(unique, heard.put)
    async with endpoint(bus, "nats", subject=unique, binary=binary) as deliver:
        await deliver(event())
    message = await asyncio.wait_for(heard.get(), 10)
    if binary:
        assert (message.headers["ce-id"], message.headers["ce-source"]) == ("1", "/lamps")
        assert msgspec.json.decode(message.data) == {"level": 3}
    else:
        assert message.headers["content-type"] == "application/cloudevents+json"
        assert CloudEvent.from_json(message.data) == event()
    await subscription.stop()


async def test_a_stream_behind_the_subject_has_an_event_once(bus: Bus, unique: str) -> None:
    async with endpoint(bus, "nats", subject=unique, durable=True) as deliver:
        await Streams(bus).ensure(StreamSpec(name=unique, subjects=[unique]))
        await deliver(event())
        await deliver(event())
    assert (await Streams(bus).info(unique)).messages == 1


async def test_an_event_larger_than_the_bus_takes_is_undeliverable(bus: Bus, unique: str) -> None:
    async with endpoint(bus, "nats", subject=unique) as deliver:
        with pytest.raises(Undeliverable):
            await deliver(event(data="x" * 9_000_000))


@pytest.mark.parametrize(
    "subject",
    ["", "a b", "a.*", "a.>", ".a", "a..b", "$JS.API.x", "_INBOX.x", "agent.x", "event.x", "stream.eventchannel-x"],
)
def test_subjects_of_the_platform_and_wildcards_are_refused(subject: str) -> None:
    assert refused("nats", subject=subject) == ["Configuration.subject"]


# stream and mailbox


async def test_a_stream_is_made_and_holds_each_event_once(bus: Bus, unique: str) -> None:
    async with endpoint(bus, "stream", name=unique) as deliver:
        for id in ("1", "2", "1"):
            await deliver(event(id))
    messages = await StreamReader(bus).after(f"events-{unique}", 0)
    assert [CloudEvent.from_json(message.data).id for message in messages] == ["1", "2"]


async def test_a_stream_that_somebody_deleted_is_made_again(bus: Bus, unique: str) -> None:
    writer = StreamWriter(bus, StreamSpec(name=unique, subjects=[unique]), patience=0.2)
    await writer.write(event("1"))
    await Streams(bus).delete(unique)
    with pytest.raises(DeliveryFailed):
        await writer.write(event("2"))
    await writer.write(event("2"))
    assert (await Streams(bus).info(unique)).messages == 1


def test_a_stream_has_a_name_that_streams_can_have() -> None:
    assert refused("stream", name="a b") == ["Configuration.name"]
    assert refused("stream", name="x" * 200) == ["Configuration.name"]


async def test_a_mailbox_belongs_to_its_channel(bus: Bus, unique: str) -> None:
    async with endpoint(bus, "mailbox", channel=unique) as deliver:
        await deliver(event())
    [message] = await StreamReader(bus).after(mailbox_stream(unique).name, 0)
    assert CloudEvent.from_json(message.data) == event()


# entitystore


async def test_an_event_becomes_the_latest_value_of_its_entity(bus: Bus, unique: str) -> None:
    bucket = Bucket(bus, BucketSpec(bucket=BUCKET, history=HISTORY))
    await bucket.ensure()
    async with endpoint(bus, "entitystore", entityType="lamp", entityId="${subject}") as deliver:
        await deliver(event(subject=unique, data={"level": 1}))
        await deliver(event(subject=unique, data={"level": 2}))
    entries = await bucket.history(entity_key("lamp", unique))
    assert [msgspec.json.decode(entry.value) for entry in entries] == [{"level": 2}, {"level": 1}]


async def test_an_event_that_names_no_entity_is_undeliverable(bus: Bus) -> None:
    async with endpoint(bus, "entitystore") as deliver:
        with pytest.raises(Undeliverable, match="entityId: is required"):
            await deliver(event())


def test_templates_of_entities_are_checked() -> None:
    assert refused("entitystore", entityType="${", value={"a": "${["}) == [
        "Configuration.entityType",
        "Configuration.value",
    ]


# log


async def test_the_log_shows_what_an_event_is_and_its_data_when_asked(bus: Bus) -> None:
    with capture_logs() as lines:
        async with (
            endpoint(bus, "log", level="warning") as brief,
            endpoint(bus, "log", level="error", data=True) as whole,
        ):
            await brief(event())
            await whole(event())
    first, second = [line for line in lines if line["event"] == "event"]
    assert (first["log_level"], first["id"], first["channel"]) == ("warning", "1", "lamps")
    assert "data" not in first
    assert second["data"] == {"level": 3}
