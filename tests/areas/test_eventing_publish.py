"""Publishing over HTTP: which bodies are taken, and what becomes of them."""

import asyncio
import json

import msgspec
import pytest

from tests.application import Application
from tests.areas.events import (
    Event,
    errors_of,
    event,
    in_order,
    make_channel,
    messages_of,
    new_name,
    publish,
    routed,
    subscribe,
)

PATH = "/api/EventHub/Publish"


@pytest.fixture
def kind() -> str:
    """An event type of one's own."""
    return new_name()


@pytest.fixture
async def channel(application: Application, kind: str) -> str:
    """A channel that gets the events of that type."""
    name = await make_channel(application)
    assert (await subscribe(application, name, EventType=kind)).status_code == 201
    return name


async def test_an_event_in_a_json_string_reaches_its_channel(application: Application, channel: str, kind: str) -> None:
    sent = event(kind, subject="5", data={"price": 1.5}, extra=True)
    answer = await application.operator.post(PATH, json=json.dumps(sent))
    assert (answer.status_code, answer.json()) == (200, {"Ids": [sent["id"]]})
    assert answer.headers["content-type"] == "application/json"
    assert await routed(application, channel, 1) == [sent]


@pytest.mark.parametrize("media", ["application/json", "text/plain", "application/cloudevents+json"])
async def test_an_event_is_taken_as_itself_in_any_of_its_media_types(
    application: Application, channel: str, kind: str, media: str
) -> None:
    sent = event(kind)
    answer = await application.operator.post(PATH, content=json.dumps(sent), headers={"content-type": media})
    assert answer.json() == {"Ids": [sent["id"]]}
    assert await routed(application, channel, 1) == [sent]


@pytest.mark.parametrize("media", ["application/json", "application/cloudevents-batch+json"])
async def test_a_batch_is_stored_in_its_order(application: Application, channel: str, kind: str, media: str) -> None:
    sent = [event(kind, data=number) for number in range(250)]
    answer = await application.operator.post(PATH, content=json.dumps(sent), headers={"content-type": media})
    assert answer.json() == {"Ids": [each["id"] for each in sent]}
    assert await routed(application, channel, 250) == sent


async def test_a_batch_in_a_json_string_is_a_batch(application: Application, channel: str, kind: str) -> None:
    sent = [event(kind), event(kind)]
    assert (await publish(application, *sent)).json() == {"Ids": [each["id"] for each in sent]}
    assert await routed(application, channel, 2) == sent


async def test_an_empty_batch_publishes_nothing(application: Application) -> None:
    headers = {"content-type": "application/cloudevents-batch+json"}
    assert (await application.operator.post(PATH, content="[]", headers=headers)).json() == {"Ids": []}


async def test_binary_mode_has_attributes_in_headers(application: Application, channel: str, kind: str) -> None:
    id = new_name()
    headers = {
        "ce-specversion": "1.0",
        "ce-id": id,
        "ce-source": "/tests",
        "ce-type": kind,
        "ce-subject": "%C3%A9",
        "content-type": "application/xml",
    }
    answer = await application.operator.post(PATH, content="<order/>", headers=headers)
    assert answer.json() == {"Ids": [id]}
    (got,) = await routed(application, channel, 1)
    assert (got["subject"], got["datacontenttype"], got["data"]) == ("é", "application/xml", "<order/>")


@pytest.mark.parametrize(
    ("content", "media", "members"),
    [
        ('"hello"', "application/json", {"datacontenttype": "text/plain", "data": "hello"}),
        ('"{\\"a\\": 1}"', "application/json", {"datacontenttype": "application/json", "data": {"a": 1}}),
        ('{"a": 1}', "application/json", {"datacontenttype": "application/json", "data": {"a": 1}}),
        ("[1, 2]", "application/json", {"datacontenttype": "application/json", "data": [1, 2]}),
        ("5", "application/json", {"datacontenttype": "application/json", "data": 5}),
        ("hello", "text/plain", {"datacontenttype": "text/plain", "data": "hello"}),
        ("<a/>", "application/xml", {"datacontenttype": "application/xml", "data": "<a/>"}),
        (b"\xff\x00", "image/png", {"datacontenttype": "image/png", "data_base64": "/wA="}),
    ],
)
async def test_plain_data_becomes_an_event(
    application: Application, content: str | bytes, media: str, members: Event
) -> None:
    channel = await make_channel(application)
    found = (await application.admin.get("/api/EventHub/Channels")).json()
    id = next(each["ChannelId"] for each in found if each["Name"] == channel)
    answer = await application.operator.post(
        f"/api/EventHub/Admin/channels/{id}/publish", content=content, headers={"content-type": media}
    )
    (event_id,) = answer.json()["Ids"]
    (got,) = await routed(application, channel, 1)
    assert got.pop("time")
    assert got == {
        "specversion": "1.0",
        "id": event_id,
        "type": "penstock.data",
        "source": "/penstock/publish",
        **members,
    }


async def test_a_bad_attribute_is_named(application: Application, kind: str) -> None:
    assert set(errors_of(await publish(application, event(kind, source="not a uri")))) == {"source"}
    assert set(errors_of(await publish(application, {"specversion": "1.0"}))) == {"id", "source", "type"}
    without = {name: value for name, value in event(kind).items() if name != "specversion"}
    assert set(errors_of(await publish(application, without))) == {"specversion"}


async def test_a_batch_with_a_bad_event_is_not_stored_at_all(application: Application, channel: str, kind: str) -> None:
    assert set(errors_of(await publish(application, event(kind), event("")))) == {"[1].type"}
    await in_order(application)
    assert await messages_of(application, channel) == []


@pytest.mark.parametrize(
    ("content", "media", "status"),
    [
        ("", "application/json", 400),
        ("{", "application/json", 400),
        (b"\xff", "text/plain", 400),
        ("[" * 2000, "application/json", 400),
        ('"\\ud800"', "application/json", 400),
        ("a=1", "application/x-www-form-urlencoded", 415),
        ("{}", "application/cloudevents+protobuf", 415),
        (b"x" * (1024 * 1024 + 1), "text/plain", 413),
    ],
)
async def test_a_body_that_is_nothing_is_refused(
    application: Application, content: str | bytes, media: str, status: int
) -> None:
    answer = await application.operator.post(PATH, content=content, headers={"content-type": media})
    assert answer.status_code == status, answer.text


async def test_the_largest_body_is_taken(application: Application, channel: str, kind: str) -> None:
    sent = event(kind, data="")
    sent["data"] = "x" * (1024 * 1024 - len(json.dumps(sent)))
    answer = await application.operator.post(
        PATH, content=json.dumps(sent), headers={"content-type": "application/cloudevents+json"}
    )
    assert answer.status_code == 200, answer.text
    assert await routed(application, channel, 1) == [sent]


async def test_the_same_source_and_id_is_stored_once(application: Application, channel: str, kind: str) -> None:
    first = event(kind, data=1)
    again = {**first, "data": 2}
    elsewhere = {**first, "source": "/elsewhere", "data": 3}
    for sent in (first, again):
        assert (await publish(application, sent)).json() == {"Ids": [first["id"]]}
    await publish(application, again, elsewhere)
    assert await routed(application, channel, 2) == [first, elsewhere]
    await in_order(application)
    assert len(await messages_of(application, channel)) == 2


async def test_events_published_at_the_same_time_are_all_stored(
    application: Application, channel: str, kind: str
) -> None:
    sent = [event(kind) for _ in range(100)]
    answers = await asyncio.gather(*(publish(application, each) for each in sent))
    assert all(answer.status_code == 200 for answer in answers)
    assert {each["id"] for each in await routed(application, channel, 100)} == {each["id"] for each in sent}


async def test_events_of_one_publisher_keep_their_order(application: Application, channel: str, kind: str) -> None:
    sent = [event(kind, data=number) for number in range(60)]
    for start in range(0, 60, 3):
        await publish(application, *sent[start : start + 2])
        await publish(application, sent[start + 2])
    assert await routed(application, channel, 60) == sent


async def test_publishing_to_one_channel_passes_over_subscriptions(application: Application, kind: str) -> None:
    subscribed, target = await make_channel(application), await make_channel(application)
    await subscribe(application, subscribed, EventType=kind)
    channels = (await application.admin.get("/api/EventHub/Channels")).json()
    ids = {each["Name"]: each["ChannelId"] for each in channels}
    sent = event(kind)
    path = "/api/EventHub/Admin/channels/{}/publish"
    for name in (target, subscribed):  # the same event at both
        answer = await application.operator.post(path.format(ids[name]), json=json.dumps(sent))
        assert answer.json() == {"Ids": [sent["id"]]}
    assert await routed(application, target, 1) == [sent]
    assert await routed(application, subscribed, 1) == [sent]
    unknown = await application.operator.post(path.format("01a1f000-0000-7000-8000-000000000000"), json="x")
    assert unknown.status_code == 404


async def test_a_reader_may_not_publish(application: Application) -> None:
    assert (await application.reader.post(PATH, json="x")).status_code == 403


async def test_what_is_published_is_counted(application: Application, kind: str) -> None:
    async def counted(name: str) -> float:
        metrics = (await application.reader.get("/metrics")).text
        return next(float(line.split()[1]) for line in metrics.splitlines() if line.startswith(f"{name} "))

    accepted = await counted("penstock_events_accepted_total")
    duplicates = await counted("penstock_events_duplicate_total")
    sent = event(kind)
    await publish(application, sent)
    await publish(application, sent)
    assert await counted("penstock_events_accepted_total") - accepted >= 1
    assert await counted("penstock_events_duplicate_total") - duplicates >= 1


async def test_numbers_are_not_changed_on_the_way(application: Application, channel: str, kind: str) -> None:
    body = msgspec.json.encode(event(kind))[:-1] + b',"data":[1e-7,9007199254740993,0.1,-0.0]}'
    await application.operator.post(PATH, content=body, headers={"content-type": "application/cloudevents+json"})
    await routed(application, channel, 1)
    (message,) = await messages_of(application, channel)
    assert b'"data":[1e-7,9007199254740993,0.1,-0.0]' in message.data
