"""Webhooks: received whole, published as events, described by a document."""

import asyncio
import base64
import os
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.protocol.cloudevent import CloudEvent
from tests.application import Application, running_application
from tests.areas.hooks import KEY, MASK, OPEN, WHSEC, Hook

# Receiving


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_a_request_of_any_method_is_kept_and_published(hook: Hook, method: str) -> None:
    await hook.make()
    answer = await hook.send(b'{"n":1}', method, **{"Content-Type": "application/json"})
    assert answer.status_code == 200
    [message] = await hook.history()
    assert (message["Method"], message["Body"]) == (method, '{"n":1}')
    if method != "HEAD":
        assert answer.json() == {"Id": message["Id"]}
    [event] = await hook.events()
    assert (event.type, event.data) == ("penstock.webhook.received", {"n": 1})


async def test_a_request_is_kept_whole(hook: Hook) -> None:
    await hook.make()
    before = datetime.now(UTC)
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("X-Colour", "red"), ("X-Colour", "blue"), ("X-Id", "7")]
    address = f"{hook.path}?a=1&b=%20x&a=2&flag"
    await hook.application.anonymous.post(address, content="Grüße\n", headers=headers)
    [message] = await hook.history()
    assert before <= datetime.fromisoformat(message["Timestamp"]) <= datetime.now(UTC)
    assert (message["Method"], message["Path"]) == ("POST", hook.path)
    assert (message["QueryString"], message["Body"]) == ("a=1&b=%20x&a=2&flag", "Grüße\n")
    assert message["ContentType"] == "text/plain; charset=utf-8"
    assert (message["Headers"]["x-colour"], message["Headers"]["x-id"]) == ("red, blue", "7")
    assert (message["IsRehandled"], message["OriginalMessageId"]) == (False, None)


async def test_what_gives_access_is_masked_wherever_it_is_kept(hook: Hook) -> None:
    await hook.make(data="request")
    secret = uuid4().hex
    await hook.send(
        b"body",
        query=f"access_token={secret}&page=1",
        Authorization=f"Bearer {secret}",
        Cookie=f"session={secret}",
        X_Api_Key=secret,
        X_Gitlab_Token=secret,
        X_Trace="kept",
    )
    [message] = await hook.history()
    names = ["authorization", "cookie", "x-api-key", "x-gitlab-token", "x-trace"]
    assert [message["Headers"][name] for name in names] == [MASK] * 4 + ["kept"]
    assert message["QueryString"] == f"access_token={MASK}&page=1"
    [event] = await hook.events()
    assert event.data["headers"]["x-trace"] == "kept"
    assert secret not in str(event.data)
    stored = await StreamReader(hook.bus).newest(f"webhook-{hook.name}")
    assert secret not in str(stored)


async def test_bytes_that_are_no_text_come_through(hook: Hook) -> None:
    await hook.make()
    body = bytes(range(256))
    await hook.send(body, **{"Content-Type": "image/png"})
    [message] = await hook.history()
    assert message["Body"] == f"data:image/png;base64,{base64.b64encode(body).decode()}"
    await hook.rehandle(message["Id"])
    for event in await hook.events():
        assert (event.payload(), event.datacontenttype) == (body, "image/png")


async def test_a_body_that_looks_like_a_data_url_stays_what_it_is(hook: Hook) -> None:
    await hook.make()
    await hook.send(b"data:text/plain;base64,QUJD", **{"Content-Type": "text/plain"})
    [message] = await hook.history()
    await hook.rehandle(message["Id"])
    assert [event.data for event in await hook.events()] == ["data:text/plain;base64,QUJD"] * 2


@pytest.mark.parametrize(
    ("content_type", "body", "data"),
    [
        ("application/json", b'{"a":[1,2.5,null]}', {"a": [1, 2.5, None]}),
        ("application/vnd.x+json", b"[1]", [1]),
        ("application/x-www-form-urlencoded", b"a=1&b=2", "a=1&b=2"),
        ("application/xml", b"<a/>", "<a/>"),
        ("", b'{"guessed":true}', {"guessed": True}),
        ("no media type", b"text", "text"),
        ("application/json", b"", None),
    ],
)
async def test_the_data_of_the_event_is_what_the_body_says(
    hook: Hook, content_type: str, body: bytes, data: Any
) -> None:
    await hook.make()
    assert (await hook.send(body, **({"Content-Type": content_type} if content_type else {}))).status_code == 200
    [event] = await hook.events()
    assert event.data == data


async def test_json_that_is_none_is_kept_as_it_came(hook: Hook) -> None:
    await hook.make()
    assert (await hook.send(b'{"a":', **{"Content-Type": "application/json"})).status_code == 200
    [event] = await hook.events()
    assert event.payload() == b'{"a":'


async def test_a_body_over_the_limit_is_too_large_and_not_kept(hook: Hook) -> None:
    await hook.make()
    assert (await hook.send(b"x" * (1 << 20))).status_code == 200
    assert (await hook.send(b"x" * ((1 << 20) + 1))).status_code == 413
    assert len(await hook.history()) == 1


async def test_a_request_that_breaks_off_is_not_taken(hook: Hook) -> None:
    await hook.make()
    host, _, port = hook.application.address.removeprefix("http://").partition(":")
    for _ in range(3):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"POST {hook.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123".encode())
    await hook.send(b"whole")
    assert [message["Body"] for message in await hook.history()] == ["whole"]


async def test_an_unknown_webhook_is_not_found(application: Application) -> None:
    for path in ("/webhooks/none", "/webhooks/a%2Fb"):
        assert (await application.anonymous.post(path, content=b"x")).status_code == 404
    for method, path in (("GET", "/history"), ("DELETE", "/history"), ("POST", f"/rehandle/{uuid4()}")):
        answer = await application.admin.request(method, f"/api/webhooks/none{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


async def test_names_are_compared_without_case(hook: Hook) -> None:
    await hook.make()
    assert (await hook.application.anonymous.post(hook.path.replace("t.", "T."))).status_code == 200
    assert len(await hook.history()) == 1


async def test_requests_at_the_same_time_are_each_kept_once(hook: Hook) -> None:
    await hook.make()
    answers = await asyncio.gather(*(hook.send(str(n).encode()) for n in range(40)))
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(int(message["Body"]) for message in await hook.history()) == list(range(40))
    assert sorted(event.data for event in await hook.events()) == list(range(40))


# Events


async def test_a_header_may_tell_the_type(hook: Hook) -> None:
    await hook.make(eventType="com.example.git", typeHeader="X-Event")
    await hook.send(X_Event="push")
    await hook.send(X_Event="not a type")
    await hook.send()
    types = [event.type for event in await hook.events()]
    assert types == ["com.example.git", "com.example.git", "com.example.git.push"]


async def test_the_data_may_be_the_whole_request(hook: Hook) -> None:
    await hook.make(data="request")
    await hook.send(b'{"n":1}', "PUT", "a=1&b=2&b=3", **{"Content-Type": "application/json", "X-Trace": "t"})
    [event] = await hook.events()
    assert event.datacontenttype == "application/json"
    headers = event.data.pop("headers")
    assert event.data == {
        "method": "PUT",
        "path": hook.path,
        "query": {"a": "1", "b": ["2", "3"]},
        "contentType": "application/json",
        "body": {"n": 1},
    }
    assert headers["x-trace"] == "t"


async def test_a_channel_that_is_gone_asks_the_sender_to_try_again(hook: Hook) -> None:
    channel = await make_channel(hook)
    await hook.make(channels=[channel])
    await hook.application.operator.delete("/api/EventHub/Channels", params={"channelName": channel})
    answer = await hook.send(b"{}")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0


async def make_channel(hook: Hook) -> str:
    name = f"c{uuid4().hex}"
    made = await hook.application.operator.post("/api/EventHub/Channels", json={"Name": name, "Type": "log"})
    assert made.status_code == 201, made.text
    return name


async def test_data_that_its_definition_does_not_allow_is_refused_and_can_be_looked_at(hook: Hook) -> None:
    await hook.make()
    definition = {
        "Type": "penstock.webhook.received",
        "Source": hook.path,
        "DataSchema": '{"type": "object", "required": ["order"]}',
    }
    answer = await hook.application.operator.post("/api/EventHub/EventDefinitions", json=definition)
    assert answer.status_code < 300, answer.text
    json_type = {"Content-Type": "application/json"}
    assert (await hook.send(b'{"order":1}', **json_type)).status_code == 200
    assert (await hook.send(b'{"other":1}', **json_type)).status_code == 400
    assert [message["Body"] for message in await hook.history()] == ['{"other":1}', '{"order":1}']
    assert [event.data for event in await hook.events()] == [{"order": 1}]


async def test_the_channels_of_a_webhook_get_its_events_without_subscribing(hook: Hook) -> None:
    channel = await make_channel(hook)
    await hook.make(channels=[channel])
    await hook.send(b'{"n":1}', **{"Content-Type": "application/json"})
    async with asyncio.timeout(20):
        while not (found := await StreamReader(hook.bus).newest(f"eventchannel-{channel}")):
            await asyncio.sleep(0.01)
    assert [CloudEvent.from_json(message.data).data for message in found] == [{"n": 1}]


# The kind


async def test_webhooks_are_listed_by_name_and_description(hook: Hook) -> None:
    await hook.make(description="orders")
    found = (await hook.application.reader.get("/api/webhooks")).json()
    assert {"Name": hook.name, "Description": "orders"} in found


async def test_a_webhook_says_in_its_document_who_may_send(hook: Hook) -> None:
    answer = await hook.application.apply(hook.document({}))
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["documents[0].spec.authentication"]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"authentication": {"type": "trust"}}, "authentication.type"),
        ({"authentication": {"type": "secret", "header": "X"}}, "authentication.secrets"),
        ({"authentication": {"type": "secret", "secrets": [KEY]}}, "authentication.header"),
        ({"authentication": {"type": "hmac", "secrets": [KEY], "query": "k"}}, "authentication.query"),
        ({"authentication": {"type": "secret", "secrets": ["short"], "header": "X"}}, "authentication.secrets[0]"),
        ({"authentication": {"type": "secret", "secrets": [MASK], "header": "X"}}, "authentication.secrets[0]"),
        ({"authentication": {"type": "standard", "secrets": ["no base64"]}}, "authentication.secrets[0]"),
        ({"authentication": {"type": "standard", "secrets": [WHSEC], "header": "X"}}, "authentication.header"),
        ({"authentication": {"type": "open", "secrets": [KEY]}}, "authentication.secrets"),
        ({"authentication": {"type": "secret", "secrets": [KEY], "header": "a b"}}, "authentication.header"),
        ({"authentication": OPEN, "eventType": "a b"}, "eventType"),
        ({"authentication": OPEN, "typeHeader": ""}, "typeHeader"),
        ({"authentication": OPEN, "data": "all"}, "data"),
        ({"authentication": OPEN, "channels": ["a b"]}, "channels[0]"),
        ({"authentication": OPEN, "channels": ["none"]}, "channels[0]"),
        ({"authentication": OPEN, "methods": ["POST"]}, "methods"),
    ],
)
async def test_a_bad_webhook_is_refused_by_field(hook: Hook, spec: dict[str, Any], field: str) -> None:
    answer = await hook.application.apply(hook.document(spec))
    assert answer.status_code == 400
    assert f"documents[0].spec.{field}" in [error["field"] for error in answer.json()["errors"]]
    assert KEY not in answer.text


async def test_secrets_are_never_shown(hook: Hook) -> None:
    spec = {"authentication": {"type": "secret", "header": "X", "secrets": [KEY, "{{var:other}}"]}}
    planned = await hook.plan(spec)
    assert planned["After"]["authentication"]["secrets"] == [f"{MASK} (changed)", "{{var:other}}"]
    await hook.make(spec["authentication"])
    kept = await hook.plan(spec)
    assert (kept["Action"], kept["After"]["authentication"]["secrets"]) == ("keep", [MASK, "{{var:other}}"])
    assert KEY not in str(await hook.audited())


async def test_the_mask_keeps_a_secret(hook: Hook) -> None:
    await hook.make({"type": "secret", "header": "X-Proof", "secrets": [KEY]})
    await hook.make({"type": "secret", "header": "X-Other", "secrets": [MASK]}, description="changed")
    assert (await hook.send(X_Other=KEY)).status_code == 200
    assert (await hook.send(X_Other=MASK)).status_code == 401


async def test_a_removed_webhook_is_gone_with_its_requests(hook: Hook) -> None:
    await hook.make()
    await hook.send(b"1")
    assert (await hook.application.apply(hook.document({}, state="absent"))).status_code == 202
    assert (await hook.send(b"2")).status_code == 404
    assert f"webhook-{hook.name}" not in [info.name for info in await Streams(hook.bus).list()]
    await hook.make()
    assert await hook.history() == []


# Faults


async def test_as_many_requests_are_kept_as_are_set(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        hook = Hook(application)
        await hook.make()
        for number in range(8):
            await hook.send(str(number).encode())
    async with running_application(tmp_path, PENSTOCK_WEBHOOK_KEEP_REQUESTS="5") as application:
        again = Hook(application)
        again.name, again.path = hook.name, hook.path
        while len(kept := await again.history()) > 5:
            await asyncio.sleep(0.01)
        assert [message["Body"] for message in kept] == ["7", "6", "5", "4", "3"]


@pytest.mark.timeout(120)
async def test_what_was_acknowledged_is_there_after_the_bus_was_killed(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        hook = Hook(application)
        await hook.make()
        nats = application.platform.nats
        assert nats is not None
        acknowledged: list[str] = []

        async def send_many(sender: int) -> None:
            for number in range(25):
                body = f"{sender}-{number}"
                if (await hook.send(body.encode(), **{"Content-Type": "text/plain"})).status_code == 200:
                    acknowledged.append(body)

        async def kill() -> None:
            while len(acknowledged) < 20:
                await asyncio.sleep(0.001)
            assert nats.pid is not None
            os.kill(nats.pid, signal.SIGKILL)

        await asyncio.gather(kill(), *(send_many(sender) for sender in range(4)))
        assert len(acknowledged) > 50
        kept = [message["Body"] for message in await hook.history()]
        published = [event.data for event in await hook.events()]
    assert set(acknowledged) <= set(kept)
    assert set(acknowledged) <= set(published)
    assert len(published) == len(set(published))
