"""Event definitions over HTTP, and the data that they allow."""

from typing import Any
from urllib.parse import quote
from uuid import uuid4

import msgspec
import pytest

from tests.application import Application
from tests.areas.events import errors_of, event, make_channel, new_name, publish, routed, subscribe

PUBLIC = "/api/EventHub/EventDefinitions"
ADMIN = "/api/EventHub/Admin/eventDefinitions"
ORDER = {
    "type": "object",
    "required": ["lines"],
    "properties": {"lines": {"type": "array", "items": {"properties": {"price": {"type": "number"}}}}},
}


async def define(application: Application, type: str, **fields: Any) -> dict[str, Any]:
    answer = await application.operator.post(PUBLIC, json={"Type": type, "Source": "/tests", **fields})
    assert answer.status_code == 200, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


async def entity_of(application: Application, type: str) -> dict[str, Any]:
    listed = (await application.reader.get(ADMIN)).json()
    return next(entity for entity in listed if entity["Type"] == type)


def schema(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def test_a_definition_is_made_and_read_in_every_form(application: Application) -> None:
    kind = new_name()
    saved = await define(application, kind, Tags=["a"], DataSchemaUri="https://example.com/schema")
    assert saved == {
        "Type": kind,
        "Source": "/tests",
        "SpecVersion": "1.0",
        "DataContentType": "application/json",
        "DataSchemaUri": "https://example.com/schema",
        "DataSchema": None,
        "Tags": ["a"],
    }
    assert saved in (await application.reader.get(PUBLIC)).json()
    entity = await entity_of(application, kind)
    assert entity["Definition"] == saved
    assert {field: entity[field] for field in saved} == saved
    assert (await application.reader.get(f"{ADMIN}/{entity['Id']}")).json() == entity


async def test_saving_the_same_type_source_and_version_changes_the_definition(application: Application) -> None:
    kind = new_name()
    await define(application, kind)
    before = await entity_of(application, kind)
    await define(application, kind)
    assert await entity_of(application, kind) == before
    await define(application, kind, Tags=["b"])
    after = await entity_of(application, kind)
    assert (after["Id"], after["Tags"], after["Definition"]["Tags"]) == (before["Id"], ["b"], ["b"])
    await define(application, kind, SpecVersion="2.0")
    listed = (await application.reader.get(PUBLIC)).json()
    assert sorted(each["SpecVersion"] for each in listed if each["Type"] == kind) == ["1.0", "2.0"]


async def test_a_definition_is_removed_by_its_key(application: Application) -> None:
    kind = f"{new_name()}/with slash"
    await define(application, kind, Source="https://example.com/a?b=c#d")
    path = f"{PUBLIC}/{quote(kind, safe='')}/{quote('https://example.com/a?b=c#d', safe='')}/1.0"
    assert (await application.reader.delete(path)).status_code == 403
    gone = await application.operator.delete(path)
    assert (gone.status_code, gone.json()) == (200, kind)
    assert (await application.operator.delete(path)).status_code == 404


async def test_an_etag_that_is_not_the_current_one_changes_nothing(application: Application) -> None:
    kind = new_name()
    stale, body = {"If-Match": '"stale"'}, {"Type": kind, "Source": "/tests"}
    assert (await application.operator.post(PUBLIC, json=body, headers=stale)).status_code == 412
    await define(application, kind)
    before = await entity_of(application, kind)
    changed = {**body, "Tags": ["b"]}
    assert (await application.operator.post(PUBLIC, json=changed, headers=stale)).status_code == 412
    path = f"{PUBLIC}/{kind}/%2Ftests/1.0"
    assert (await application.operator.delete(path, headers=stale)).status_code == 412
    assert await entity_of(application, kind) == before
    current = {"If-Match": before["ETag"]}
    assert (await application.operator.post(PUBLIC, json=changed, headers=current)).status_code == 200
    assert (await application.operator.delete(path, headers=current)).status_code == 412


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"Type": None}, {"Type"}),
        ({"Source": ""}, {"Source"}),
        ({"Type": "a\nb", "SpecVersion": "x" * 2000}, {"Type", "SpecVersion"}),
        ({"DataSchemaUri": "no uri"}, {"DataSchemaUri"}),
        ({"DataSchema": "{"}, {"DataSchema"}),
        ({"DataSchema": '{"type":"nothing"}'}, {"DataSchema"}),
        ({"DataSchema": '{"$ref":"http://127.0.0.1:1/schema"}'}, {"DataSchema"}),
        ({"DataSchema": '{"$schema":"http://example.com/own"}'}, {"DataSchema"}),
        ({"DataSchema": "{}", "DataContentType": "text/xml"}, {"DataContentType"}),
        ({"Tags": ["a", ""]}, {"Tags[1]"}),
        ({"Tags": ["a"] * 101}, {"Tags"}),
    ],
)
async def test_everything_that_is_wrong_with_a_definition_is_named(
    application: Application, fields: dict[str, Any], wrong: set[str]
) -> None:
    body = {"Type": "t", "Source": "/s", **fields}
    assert set(errors_of(await application.operator.post(PUBLIC, json=body))) == wrong


async def test_data_that_its_definition_does_not_allow_is_refused(application: Application) -> None:
    kind = new_name()
    channel = await make_channel(application)
    await subscribe(application, channel, EventType=kind)
    await define(application, kind, DataSchema=schema(ORDER))
    wrong = event(kind, data={"lines": [{"price": 1}, {"price": "much"}]})
    assert set(errors_of(await publish(application, wrong))) == {"data.lines[1].price"}
    assert set(errors_of(await publish(application, event(kind)))) == {"data"}
    text = event(kind, data="lines", datacontenttype="text/plain")
    assert set(errors_of(await publish(application, text))) == {"data"}
    right = event(kind, data={"lines": [{"price": 1}]})
    assert set(errors_of(await publish(application, right, wrong))) == {"[1].data.lines[1].price"}
    assert (await publish(application, right)).status_code == 200
    assert await routed(application, channel, 1) == [right]


async def test_only_events_of_the_definitions_type_source_and_version_are_checked(application: Application) -> None:
    kind = new_name()
    await define(application, kind, DataSchema=schema(False))
    await define(application, f"{kind}-v2", DataSchema=schema(False), SpecVersion="2.0")
    assert (await publish(application, event(kind))).status_code == 400
    assert (await publish(application, event(kind, source="/other"))).status_code == 200
    assert (await publish(application, event(f"{kind}-other"))).status_code == 200
    assert (await publish(application, event(f"{kind}-v2"))).status_code == 200


async def test_a_changed_schema_counts_at_once(application: Application) -> None:
    kind = new_name()
    for allowed in (False, True, False):
        await define(application, kind, DataSchema=schema(allowed))
        assert (await publish(application, event(kind))).status_code == (200 if allowed else 400)
    await application.operator.delete(f"{PUBLIC}/{kind}/%2Ftests/1.0")
    assert (await publish(application, event(kind))).status_code == 200


async def test_publishing_to_one_channel_checks_the_data_too(application: Application) -> None:
    kind, channel = new_name(), await make_channel(application)
    await define(application, kind, DataSchema=schema(False))
    channels = (await application.reader.get("/api/EventHub/Channels")).json()
    id = next(each["ChannelId"] for each in channels if each["Name"] == channel)
    answer = await application.operator.post(f"/api/EventHub/Admin/channels/{id}/publish", json=schema(event(kind)))
    assert set(errors_of(answer)) == {"data"}


async def test_a_hostile_pattern_does_not_hold_publishing_up(application: Application) -> None:
    kind = new_name()
    await define(application, kind, DataSchema=schema({"pattern": "^(a+)+$"}))
    assert (await publish(application, event(kind, data="a" * 5000 + "b"))).status_code == 400


async def test_definitions_and_channels_know_each_other(application: Application) -> None:
    kind = new_name()
    await define(application, kind)
    await define(application, f"{kind}-other")
    exact, by_source, neither = [await make_channel(application) for _ in range(3)]
    await subscribe(application, exact, EventType=kind)
    await subscribe(application, by_source, EventType=kind, Source="/tests", SpecVersion="1.0")
    await subscribe(application, neither, EventType=kind, Source="/elsewhere")
    entity = await entity_of(application, kind)
    channels = (await application.reader.get(f"{ADMIN}/{entity['Id']}/channels")).json()
    assert [channel["Name"] for channel in channels] == sorted([exact, by_source])
    for channel in channels:
        path = f"/api/EventHub/Admin/channels/{channel['ChannelId']}/eventDefinitions"
        assert (await application.reader.get(path)).json() == [entity]


async def test_what_is_unknown_is_not_found(application: Application) -> None:
    for path in (
        f"{ADMIN}/{uuid4()}",
        f"{ADMIN}/{uuid4()}/channels",
        f"/api/EventHub/Admin/channels/{uuid4()}/eventDefinitions",
        f"/eventing/events/eventdefinition/{uuid4()}",
    ):
        assert (await application.reader.get(path)).status_code == 404, path
