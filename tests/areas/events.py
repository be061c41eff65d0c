"""Events, channels and subscriptions as tests use them."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import httpx
import msgspec

from penstock.bus.bus import Bus
from penstock.bus.message import StoredMessage
from penstock.bus.reader import StreamReader
from penstock.protocol.event_streams import channel_stream
from tests.application import Application
from tests.areas.waiting import until

Event = dict[str, Any]


def new_name() -> str:
    """A name that no other test uses."""
    return f"t-{uuid4().hex}"


def event(type: str, **attributes: Any) -> Event:
    """A CloudEvent of this type with an id of its own."""
    return {"specversion": "1.0", "id": uuid4().hex, "source": "/tests", "type": type, **attributes}


async def make_channel(application: Application, name: str | None = None, **form: Any) -> str:
    """A channel; its name."""
    name = name or new_name()
    answer = await application.operator.post("/api/EventHub/Channels", json={"Name": name, **form})
    assert answer.status_code == 201, answer.text
    return name


async def subscribe(application: Application, channel: str, **wanted: Any) -> httpx.Response:
    """Subscribes a channel. wanted: Source, EventType, SpecVersion."""
    return await application.operator.post("/api/EventHub/Subscriptions", json={"ChannelName": channel, **wanted})


async def publish(application: Application, *events: Event) -> httpx.Response:
    """Publishes events in the form that the specification has: JSON in a string."""
    body = msgspec.json.encode(events[0] if len(events) == 1 else events).decode()
    return await application.operator.post("/api/EventHub/Publish", json=body)


async def messages_of(application: Application, channel: str) -> list[StoredMessage]:
    """What is in a channel's stream, oldest first."""
    reader = StreamReader(application.platform.container.get(Bus))
    found: list[StoredMessage] = []
    while page := await reader.after(channel_stream(channel), found[-1].sequence if found else 0, count=1000):
        found += page
    return found


async def routed(application: Application, channel: str, count: int) -> list[Event]:
    """The events of a channel's stream once there are so many."""

    async def enough() -> Sequence[StoredMessage] | None:
        found = await messages_of(application, channel)
        return found if len(found) >= count else None

    messages = await until(enough) if count else await messages_of(application, channel)
    return [msgspec.json.decode(message.data) for message in messages or ()]


async def in_order(application: Application) -> None:
    """Returns once everything that was published before is routed."""
    marker = new_name()
    channel = await make_channel(application)
    await subscribe(application, channel, EventType=marker)
    assert (await publish(application, event(marker))).status_code == 200
    await routed(application, channel, 1)
    await application.operator.delete("/api/EventHub/Channels", params={"channelName": channel})


def errors_of(answer: httpx.Response) -> dict[str, str]:
    """field -> message of a refused request."""
    assert answer.status_code == 400, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}
