"""The configuration kinds EventChannel and EventSubscription."""

from typing import Any

import msgspec
import pytest

from penstock.areas.eventing.channels import ChannelService
from penstock.connectors.secret_fields import MASK
from tests.application import Application
from tests.areas.events import errors_of, event, in_order, make_channel, new_name, publish, routed, subscribe

SECRET = "a-password-nobody-may-see"


def document(kind: str, name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    whole = {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name, **metadata}}
    return whole | ({"spec": spec} if spec is not None else {})


def channel(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return document("EventChannel", name, spec or {}, **metadata)


def subscription(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return document("EventSubscription", name, spec or {"channel": "?"}, **metadata)


async def applied(application: Application, *documents: dict[str, Any]) -> None:
    answer = await application.apply(*documents)
    assert answer.status_code == 202, answer.text


async def planned(application: Application, *documents: dict[str, Any]) -> list[dict[str, Any]]:
    text = "\n---\n".join(msgspec.json.encode(each).decode() for each in documents)
    answer = await application.admin.post("/configuration/plan", json=text)
    assert answer.status_code == 200, answer.text
    changes: list[dict[str, Any]] = answer.json()
    return changes


async def entity_of(application: Application, name: str) -> dict[str, Any]:
    listed = (await application.reader.get("/api/EventHub/Admin/channels")).json()
    return next(each for each in listed if each["Name"] == name)


async def password_of(application: Application, name: str) -> str:
    service = application.platform.container.get(ChannelService)
    pipeline = await service.opened(await service.resource.named(name))
    return str(msgspec.json.decode(pipeline.endpoints[0].json_configuration or "")["password"])


def http(**changed: Any) -> dict[str, Any]:
    return {"url": "https://1.1.1.1/", "username": "ann", "password": SECRET, **changed}


async def test_a_channel_of_a_type_is_made_described_and_removed(application: Application) -> None:
    name = new_name()
    await applied(application, channel(name, {"type": "log", "parameters": {"level": "debug"}}, description="Logs"))
    described = (await application.reader.get(f"/eventchannels/v2/{name}")).json()
    assert described.pop("CreatedAt")
    assert described == {
        "Name": name,
        "Description": "Logs",
        "Type": "log",
        "Parameters": {"level": "debug"},
        "Variables": None,
        "Requirements": None,
    }
    assert [part["Type"] for part in (await entity_of(application, name))["Endpoints"]] == ["log"]
    await applied(application, channel(name.upper(), state="absent"))
    assert (await application.reader.get(f"/eventchannels/v2/{name}")).status_code == 404
    assert name not in (await application.reader.get("/eventing/streams")).text


async def test_a_channel_lists_components_and_endpoints_in_their_order(application: Application) -> None:
    name = new_name()
    endpoints = [{"type": "log", "position": 7}, {"type": "LOG", "configuration": {"level": "debug"}}]
    spec = {"type": "my own word", "endpoints": endpoints, "parallel": 3, "variables": {"a": "b"}, "appId": "shop"}
    await applied(application, channel(name, spec))
    entity = await entity_of(application, name)
    assert [(part["Type"], part["Position"]) for part in entity["Endpoints"]] == [("log", 7), ("log", 1)]
    assert (entity["Type"], entity["AppId"]) == ("my own word", "shop")
    assert msgspec.json.decode(entity["JsonConfiguration"]) == {"parallel": 3}
    assert (await application.reader.get(f"/eventchannels/v2/{name}")).json()["Variables"] == {"a": "b"}


async def test_a_plan_tells_what_would_change(application: Application) -> None:
    name = new_name()
    first = channel(name, {"type": "log"})
    assert [change["Action"] for change in await planned(application, first)] == ["create"]
    await applied(application, first)
    assert [change["Action"] for change in await planned(application, first)] == ["keep"]
    other = channel(name, {"type": "log", "parallel": 2})
    (change,) = await planned(application, other)
    assert (change["Action"], change["Before"]["parallel"], change["After"]["parallel"]) == ("change", 1, 2)
    e_tag = (await entity_of(application, name))["ETag"]
    await applied(application, first)
    assert (await entity_of(application, name))["ETag"] == e_tag
    (change,) = await planned(application, channel(name, state="absent"))
    assert change["Action"] == "remove"
    (change,) = await planned(application, channel(new_name(), state="absent"))
    assert change["Action"] == "keep"


async def test_a_channel_made_over_the_api_is_changed_and_keeps_its_id(application: Application) -> None:
    name = await make_channel(application)
    before = await entity_of(application, name)
    await applied(application, channel(name.upper(), {"type": "log"}))
    after = await entity_of(application, name)
    assert (after["Id"], after["CreatedDate"], after["Type"]) == (before["Id"], before["CreatedDate"], "log")


async def test_the_mask_keeps_a_secret_while_the_rest_stays(application: Application) -> None:
    name = new_name()
    await applied(application, channel(name, {"type": "http", "parameters": http()}))
    shown = (await application.reader.get(f"/eventchannels/v2/{name}")).json()["Parameters"]
    assert shown["password"] == MASK
    masked = channel(name, {"type": "http", "parameters": http(password=MASK)})
    assert [change["Action"] for change in await planned(application, masked)] == ["keep"]
    parallel = channel(name, {"type": "http", "parameters": http(password=MASK), "parallel": 2})
    changes = await planned(application, parallel)
    assert SECRET not in str(changes)
    await applied(application, parallel)
    assert await password_of(application, name) == SECRET
    await applied(application, channel(name, {"type": "http", "parameters": http(password="another one")}))
    assert await password_of(application, name) == "another one"


async def test_a_secret_does_not_follow_a_channel_to_another_address(application: Application) -> None:
    name = new_name()
    await applied(application, channel(name, {"type": "http", "parameters": http()}))
    elsewhere = channel(name, {"type": "http", "parameters": http(password=MASK, url="https://9.9.9.9/")})
    assert set(errors_of(await application.apply(elsewhere))) == {"documents[0].spec.parameters.password"}
    swapped = {"type": "x", "endpoints": [{"type": "log"}, {"type": "http", "configuration": http(password=MASK)}]}
    fields = set(errors_of(await application.apply(channel(name, swapped))))
    assert fields == {"documents[0].spec.endpoints[1].configuration.password"}


async def test_a_variable_stays_a_reference(application: Application) -> None:
    name = new_name()
    await applied(application, channel(name, {"type": "http", "parameters": http(password="{{var:secret}}")}))
    shown = (await application.reader.get(f"/eventchannels/v2/{name}")).json()["Parameters"]
    assert shown["password"] == "{{var:secret}}"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"type": "pigeon"}, "type"),
        ({"parameters": {}}, "parameters"),
        ({"type": "x", "endpoints": [{"type": "log"}], "parameters": {}}, "parameters"),
        ({"type": "log", "parameters": {"level": "loud"}}, "parameters.level"),
        ({"endpoints": [{"type": "pigeon"}]}, "endpoints[0].type"),
        ({"endpoints": [{"type": "log", "version": "7"}]}, "endpoints[0].version"),
        ({"endpoints": [{"type": "log", "configuration": {"more": 1}}]}, "endpoints[0].configuration.more"),
        ({"components": [{"type": "pigeon"}]}, "components[0].type"),
        ({"parallel": 65}, "parallel"),
        ({"endpoints": [{"type": "log", "speed": 1}]}, "endpoints[0].speed"),
    ],
)
async def test_what_is_wrong_with_a_channel_is_named_as_in_its_document(
    application: Application, spec: dict[str, Any], field: str
) -> None:
    errors = errors_of(await application.apply(channel(new_name(), spec)))
    assert set(errors) == {f"documents[0].spec.{field}"}
    assert all(message.startswith("line ") for message in errors.values())


async def test_a_bad_name_is_refused(application: Application) -> None:
    for name in ("a b", "x" * 116):
        assert set(errors_of(await application.apply(channel(name)))) == {"documents[0].metadata.name"}


@pytest.mark.parametrize("channel_first", [True, False])
async def test_a_channel_and_its_subscription_are_made_and_removed_by_one_text(
    application: Application, channel_first: bool
) -> None:
    name, kind = new_name(), new_name()
    spec = {"channel": name.upper(), "eventType": kind}
    documents = [channel(name), subscription(name, spec, description="Mine")]
    await applied(application, *(documents if channel_first else reversed(documents)))
    sent = event(kind)
    await publish(application, sent)
    assert await routed(application, name, 1) == [sent]
    described = (await application.reader.get(f"/eventsubscriptions/v2/{name.upper()}")).json()
    assert (described["Name"], described["Description"], described["Source"]) == (name, "Mine", "*")
    gone = [channel(name, state="absent"), subscription(name, state="absent")]
    await applied(application, *(gone if channel_first else reversed(gone)))
    assert (await application.reader.get(f"/eventsubscriptions/v2/{name}")).status_code == 404
    await applied(application, *gone)


async def test_a_subscription_needs_its_channel(application: Application) -> None:
    name = new_name()
    wanted = subscription(name, {"channel": "no-such-channel"})
    assert set(errors_of(await application.apply(wanted))) == {"documents[0].spec.channel"}
    other = channel(new_name())
    assert set(errors_of(await application.apply(other, wanted))) == {"documents[1].spec.channel"}
    absent = channel("no-such-channel", state="absent")
    assert set(errors_of(await application.apply(absent, wanted))) == {"documents[1].spec.channel"}


async def test_a_subscription_moves_to_another_channel_and_pattern(application: Application) -> None:
    first, second, kind = await make_channel(application), await make_channel(application), new_name()
    name = new_name()
    before = subscription(name, {"channel": first, "eventType": kind})
    after = subscription(name, {"channel": second, "eventType": kind, "source": "/tests"})
    await applied(application, before)
    assert [change["Action"] for change in await planned(application, before, after | {"metadata": {"name": "x"}})] == [
        "keep",
        "create",
    ]
    await applied(application, after)
    sent = event(kind)
    await publish(application, sent)
    await in_order(application)
    assert await routed(application, first, 0) == []
    assert await routed(application, second, 1) == [sent]


async def test_a_channel_cannot_have_a_subscription_twice(application: Application) -> None:
    name, kind = await make_channel(application), new_name()
    await subscribe(application, name, EventType=kind)
    answer = await application.apply(subscription(new_name(), {"channel": name, "eventType": kind}))
    assert answer.status_code == 409


async def test_bad_subscriptions_are_refused(application: Application) -> None:
    spec = {"channel": "a b", "eventType": "", "source": "a\nb"}
    assert set(errors_of(await application.apply(subscription("a b", spec)))) == {
        "documents[0].metadata.name",
        "documents[0].spec.channel",
        "documents[0].spec.eventType",
        "documents[0].spec.source",
    }
