import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from penstock.areas.mailbox.service import Mailboxes
from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.bus.streams import Streams
from penstock.connectors.mailbox import mailbox_stream, mailbox_subject
from penstock.kernel.clock import ManualClock
from tests.application import Application, running_application


class Reader:
    """A user of one test, with a mailbox of their own."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def initialize(self, channel: str) -> httpx.Response:
        return await self.client.post("/mailbox/initialize", params={"channelName": channel})

    async def read(self) -> list[Any]:
        answer = await self.client.get("/mailbox")
        assert answer.status_code == 200, answer.text
        return [json.loads(text) for text in answer.json()]


class Channel:
    """A channel of one test, with an endpoint of type `mailbox`."""

    def __init__(self, application: Application) -> None:
        self.name = f"T.{uuid4().hex}"
        self._application = application
        self._bus = application.platform.container.get(Bus)

    async def make(self) -> None:
        body = {"Name": self.name, "Type": "mailbox"}
        answer = await self._application.operator.post("/api/EventHub/Channels", json=body)
        assert answer.status_code == 201, answer.text

    async def remove(self) -> None:
        answer = await self._application.operator.delete("/api/EventHub/Channels", params={"channelName": self.name})
        assert answer.status_code == 200, answer.text

    async def put(self, *values: Any) -> None:
        """Puts values into the mailbox as the channel's endpoint does with events."""
        await Streams(self._bus).ensure(mailbox_stream(self.name))
        subject = mailbox_subject(self.name)
        messages = [Message(subject=subject, body=json.dumps(value).encode()) for value in values]
        await self._bus.publish_all(messages, in_flight=1)


async def test_a_channel_without_the_endpoint_has_no_mailbox(application: Application) -> None:
    name = f"t{uuid4().hex}"
    await application.operator.post("/api/EventHub/Channels", json={"Name": name, "Type": "log"})
    answer = await application.reader.post("/mailbox/initialize", params={"channelName": name})
    assert answer.status_code == 400
    assert "type mailbox" in answer.json()["errors"][0]["message"]


@pytest.fixture
async def channel(application: Application) -> Channel:
    made = Channel(application)
    await made.make()
    return made


@asynccontextmanager
async def new_reader(application: Application) -> AsyncIterator[Reader]:
    email = f"{uuid4().hex}@example.com"
    answer = await application.admin.post("/identity/user", json={"Email": email, "Roles": "Reader"})
    async with await application.client_for(email, answer.json()["Password"]) as client:
        yield Reader(client)


@pytest.fixture
async def reader(application: Application) -> AsyncIterator[Reader]:
    async with new_reader(application) as made:
        yield made


@pytest.fixture
async def other(application: Application) -> AsyncIterator[Reader]:
    async with new_reader(application) as made:
        yield made


async def test_nothing_is_read_before_a_mailbox_was_initialized(reader: Reader) -> None:
    answer = await reader.client.get("/mailbox")
    assert (answer.status_code, answer.content) == (400, b"")


async def test_an_unknown_channel_has_no_mailbox(reader: Reader) -> None:
    for name in ("none", "a b", "*"):
        answer = await reader.initialize(name)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert (await reader.client.post("/mailbox/initialize")).status_code == 400
    assert (await reader.client.get("/mailbox")).status_code == 400


async def test_a_mailbox_gives_what_came_since_it_was_initialized_once(channel: Channel, reader: Reader) -> None:
    await channel.put("before")
    answer = await reader.initialize(channel.name)
    assert (answer.status_code, answer.json()) == (200, f"mailbox-{channel.name}")
    assert await reader.read() == []
    await channel.put("one", {"two": [2]})
    assert await reader.read() == ["one", {"two": [2]}]
    assert await reader.read() == []


async def test_initializing_again_changes_nothing(channel: Channel, reader: Reader) -> None:
    await reader.initialize(channel.name)
    await channel.put("one")
    answer = await reader.initialize(channel.name.lower())
    assert answer.json() == f"mailbox-{channel.name}"
    assert await reader.read() == ["one"]


async def test_many_messages_come_a_hundred_at_a_time(channel: Channel, reader: Reader) -> None:
    await reader.initialize(channel.name)
    await channel.put(*range(250))
    read = [await reader.read() for _ in range(4)]
    assert read == [list(range(100)), list(range(100, 200)), list(range(200, 250)), []]


async def test_every_user_has_a_queue_of_their_own(channel: Channel, reader: Reader, other: Reader) -> None:
    for each in (reader, other):
        await each.initialize(channel.name)
    await channel.put("one")
    assert await reader.read() == ["one"]
    assert await other.read() == ["one"]


async def test_a_full_channel_does_not_keep_another_waiting(
    application: Application, channel: Channel, reader: Reader
) -> None:
    quiet = Channel(application)
    await quiet.make()
    for each in (channel, quiet):
        await reader.initialize(each.name)
    await channel.put(*range(150))
    await quiet.put("a", "b")
    first = await reader.read()
    assert len(first) == 100
    assert [message for message in first if isinstance(message, str)] == ["a", "b"]
    assert [message for message in first + await reader.read() if isinstance(message, int)] == list(range(150))


async def test_readings_at_the_same_time_share_what_there_is(channel: Channel, reader: Reader) -> None:
    await reader.initialize(channel.name)
    await channel.put(*range(300))
    read = await asyncio.gather(*(reader.read() for _ in range(6)))
    assert sorted(message for messages in read for message in messages) == list(range(300))


async def test_messages_whose_answer_had_no_body_are_not_lost(channel: Channel, reader: Reader) -> None:
    await reader.initialize(channel.name)
    await channel.put("one", "two")
    assert (await reader.client.head("/mailbox")).status_code == 200
    assert await reader.read() == ["one", "two"]


async def test_a_mailbox_outlives_its_stream(application: Application, channel: Channel, reader: Reader) -> None:
    await reader.initialize(channel.name)
    await Streams(application.platform.container.get(Bus)).delete(f"mailbox-{channel.name}")
    await channel.put("one")
    assert await reader.read() == ["one"]


async def test_a_mailbox_goes_with_its_channel_and_is_not_anothers_of_the_name(
    application: Application, channel: Channel, reader: Reader
) -> None:
    await reader.initialize(channel.name)
    await channel.put("one")
    await channel.remove()
    assert await reader.read() == []
    assert (await reader.client.get("/mailbox")).status_code == 400
    await channel.make()
    assert (await reader.client.get("/mailbox")).status_code == 400
    await reader.initialize(channel.name)
    assert await reader.read() == []


async def test_an_event_comes_to_the_mailbox_through_its_channel(
    application: Application, channel: Channel, reader: Reader
) -> None:
    await reader.initialize(channel.name)
    source = f"/tests/{channel.name}"
    subscription = {"ChannelName": channel.name, "Source": source, "EventType": "*", "SpecVersion": "*"}
    made = await application.operator.post("/api/EventHub/Subscriptions", json=subscription)
    assert made.status_code < 300, made.text
    event = {"specversion": "1.0", "id": "1", "source": source, "type": "t", "data": {"n": 1}}
    published = await application.operator.post(
        "/api/EventHub/Publish", json=event, headers={"Content-Type": "application/cloudevents+json"}
    )
    assert published.status_code == 200, published.text
    async with asyncio.timeout(20):
        while not (read := await reader.read()):
            await asyncio.sleep(0.01)
    assert [(each["id"], each["source"], each["data"]) for each in read] == [("1", source, {"n": 1})]


async def test_a_sweep_removes_mailboxes_whose_channel_is_gone_and_old(tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC) + timedelta(hours=1))
    async with running_application(tmp_path, clock) as application, new_reader(application) as reader:
        kept, gone = Channel(application), Channel(application)
        for channel in (kept, gone):
            await channel.make()
            await reader.initialize(channel.name)
        await gone.remove()
        await application.platform.container.get(Mailboxes).sweep()
        streams = await Streams(application.platform.container.get(Bus)).list()
        assert [info.name for info in streams if info.name.startswith("mailbox-")] == [f"mailbox-{kept.name}"]
        await kept.put("one")
        assert await reader.read() == ["one"]
