"""Channels over HTTP."""

import asyncio
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penstock.bus.bus import Bus
from penstock.bus.streams import Streams
from tests.application import Application
from tests.areas.events import errors_of, event, make_channel, new_name, publish, routed, subscribe
from tests.areas.waiting import until

PUBLIC = "/api/EventHub/Channels"
ADMIN = "/api/EventHub/Admin/channels"
ZERO = "00000000-0000-0000-0000-000000000000"
SECRET = "a-password-nobody-may-see"
LOG = {"Type": "log", "Version": "1.0.0", "Configuration": '{"level":"debug"}', "Position": 0}


async def entity_of(application: Application, name: str) -> dict[str, Any]:
    listed = (await application.reader.get(ADMIN)).json()
    return next(channel for channel in listed if channel["Name"] == name)


async def test_a_channel_is_made_and_read_in_every_form(application: Application) -> None:
    name = new_name()
    form = {"Name": name, "Type": "orders", "AppId": "shop", "Endpoints": [LOG], "Configuration": '{"parallel":4}'}
    answer = await application.operator.post(PUBLIC, json=form)
    assert answer.status_code == 201
    brief = answer.json()
    assert brief == {"ChannelId": brief["ChannelId"], "Name": name, "Type": "orders"}
    assert brief in (await application.reader.get(PUBLIC)).json()
    entity = (await application.reader.get(f"{ADMIN}/{brief['ChannelId']}")).json()
    assert entity == await entity_of(application, name)
    assert (entity["AppId"], entity["JsonConfiguration"], entity["Components"]) == ("shop", '{"parallel":4}', [])
    assert entity["Endpoints"] == [
        {
            "Type": "log",
            "Version": "1.0.0",
            "JsonConfiguration": '{"level":"debug"}',
            "Position": 0,
            "ComponentTypeIdentifier": "log",
        }
    ]
    described = (await application.reader.get(f"/eventchannels/v2/{name.upper()}")).json()
    assert (described["Name"], described["Type"], described["Parameters"]) == (name, "orders", None)
    assert described in (await application.reader.get("/eventchannels/v2")).json()


async def test_a_type_that_is_an_endpoint_kind_is_the_channels_only_endpoint(application: Application) -> None:
    name = await make_channel(application, Type="LOG", Configuration='{"level":"warning"}')
    entity = await entity_of(application, name)
    assert [part["Type"] for part in entity["Endpoints"]] == ["log"]
    assert entity["Endpoints"][0]["JsonConfiguration"] == '{"level":"warning"}'
    assert entity["Parameters"] == {"level": "warning"}
    assert entity["JsonConfiguration"] is None


async def test_a_name_is_taken_whatever_its_case(application: Application) -> None:
    name = await make_channel(application)
    for other in (name, name.upper()):
        answer = await application.operator.post(PUBLIC, json={"Name": other})
        assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")


async def test_of_channels_of_one_name_made_at_once_one_is(application: Application) -> None:
    name = new_name()
    answers = await asyncio.gather(*(application.operator.post(PUBLIC, json={"Name": name}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ({"Name": ""}, {"Name"}),
        ({"Name": "a b"}, {"Name"}),
        ({"Name": "x" * 116}, {"Name"}),
        ({}, {"Name"}),
        ({"Name": "x", "Configuration": "{"}, {"Configuration"}),
        ({"Name": "x", "Configuration": '{"parallel":0,"other":1}'}, {"Configuration.parallel", "Configuration.other"}),
        ({"Name": "x", "Endpoints": [{**LOG, "Version": "9.9.9"}]}, {"Endpoints[0].Version"}),
        ({"Name": "x", "Endpoints": [LOG, {**LOG, "Configuration": "5"}]}, {"Endpoints[1].Configuration"}),
        (
            {"Name": "x", "Endpoints": [{**LOG, "Configuration": '{"level":"loud","more":1}'}]},
            {"Endpoints[0].Configuration.level", "Endpoints[0].Configuration.more"},
        ),
        ({"Name": "x", "Type": "log", "Configuration": '{"level":"loud"}'}, {"Endpoints[0].Configuration.level"}),
        ({"Name": "", "Components": [LOG]}, {"Name", "Components[0].Type"}),
        ({"Name": "x", "Endpoints": [LOG] * 101}, {"Endpoints"}),
    ],
)
async def test_everything_that_is_wrong_with_a_channel_is_named(
    application: Application, form: dict[str, Any], fields: set[str]
) -> None:
    assert set(errors_of(await application.operator.post(PUBLIC, json=form))) == fields


@pytest.mark.parametrize("family", ["Components", "Endpoints"])
async def test_an_unknown_type_is_refused_with_the_known_ones(application: Application, family: str) -> None:
    form = {"Name": new_name(), family: [{"Type": "carrier-pigeon", "Version": "1.0.0"}]}
    message = errors_of(await application.operator.post(PUBLIC, json=form))[f"{family}[0].Type"]
    assert message.startswith("must be one of ")
    assert ("http" in message) == (family == "Endpoints")


async def test_an_http_channel_has_one_endpoint(application: Application) -> None:
    id, name = str(uuid4()), new_name()
    form = {
        "ChannelId": id,
        "Name": name,
        "Endpoint": "https://1.1.1.1/in",
        "BasicAuthUsername": "ann",
        "BasicAuthPassword": SECRET,
    }
    answer = await application.operator.post(f"{PUBLIC}/http", json=form)
    assert (answer.status_code, answer.json()) == (201, {"ChannelId": id, "Name": name, "Type": "http"})
    (endpoint,) = (await application.reader.get(f"{ADMIN}/{id}")).json()["Endpoints"]
    configuration = msgspec.json.decode(endpoint["JsonConfiguration"])
    assert endpoint["Type"] == "http"
    assert (configuration["url"], configuration["username"]) == ("https://1.1.1.1/in", "ann")
    assert configuration["password"] != SECRET


async def test_an_http_channel_without_an_id_of_the_caller_gets_one(application: Application) -> None:
    form = {"ChannelId": ZERO, "Name": new_name(), "Endpoint": "https://1.1.1.1/"}
    answer = await application.operator.post(f"{PUBLIC}/http", json=form)
    assert answer.status_code == 201
    assert answer.json()["ChannelId"] != ZERO


async def test_what_is_wrong_with_an_http_channel_is_named_as_in_its_form(application: Application) -> None:
    async def fields(**form: Any) -> set[str]:
        whole = {"ChannelId": ZERO, "Name": new_name(), "Endpoint": "https://1.1.1.1/", **form}
        return set(errors_of(await application.operator.post(f"{PUBLIC}/http", json=whole)))

    assert await fields(Endpoint="ftp://example.com") == {"Endpoint"}
    assert await fields(BasicAuthPassword=SECRET) == {"BasicAuthUsername"}
    assert await fields(ChannelId="x") == {"ChannelId"}


async def test_an_id_is_taken(application: Application) -> None:
    id = str(uuid4())
    form = {"ChannelId": id, "Endpoint": "https://1.1.1.1/"}
    assert (await application.operator.post(f"{PUBLIC}/http", json={**form, "Name": new_name()})).status_code == 201
    assert (await application.operator.post(f"{PUBLIC}/http", json={**form, "Name": new_name()})).status_code == 409


@pytest.mark.parametrize("word", ["azure", "cloud"])
async def test_a_queue_channel_has_one_endpoint(application: Application, word: str) -> None:
    connection = f"Endpoint=sb://1.1.1.1/;SharedAccessKeyName=send;SharedAccessKey={SECRET}"
    form = {"ChannelId": ZERO, "Name": new_name(), "Queuename": "orders", "ConnectionString": connection}
    answer = await application.operator.post(f"{PUBLIC}/{word}servicebus", json=form)
    assert answer.status_code == 201, answer.text
    shown = await application.reader.get(f"{ADMIN}/{answer.json()['ChannelId']}")
    assert SECRET not in shown.text
    (endpoint,) = shown.json()["Endpoints"]
    assert endpoint["Type"] == "amqp"
    assert msgspec.json.decode(endpoint["JsonConfiguration"])["queue"] == "orders"


async def test_what_is_wrong_with_a_queue_channel_is_named_as_in_its_form(application: Application) -> None:
    async def fields(**form: Any) -> set[str]:
        whole = {"ChannelId": ZERO, "Name": new_name(), **form}
        return set(errors_of(await application.operator.post(f"{PUBLIC}/azureservicebus", json=whole)))

    assert await fields() == {"ConnectionString"}
    assert await fields(ConnectionString="nonsense", Queuename="q") == {"ConnectionString"}
    assert await fields(ConnectionString="Endpoint=sb://1.1.1.1/;SharedAccessKeyName=a;SharedAccessKey=b") == {
        "Queuename"
    }


async def test_only_known_words_stand_before_servicebus(application: Application) -> None:
    form = {"ChannelId": ZERO, "Name": new_name()}
    for word in ("gcp", "azureeservicebus", "aws-azure"):
        assert (await application.operator.post(f"{PUBLIC}/{word}servicebus", json=form)).status_code == 404
    assert (await application.operator.post(f"{PUBLIC}/azurebus", json=form)).status_code in (404, 405)


async def test_secrets_are_shown_nowhere(application: Application) -> None:
    form = {
        "ChannelId": ZERO,
        "Name": new_name(),
        "Endpoint": "https://1.1.1.1/",
        "BasicAuthUsername": "ann",
        "BasicAuthPassword": SECRET,
    }
    id = (await application.operator.post(f"{PUBLIC}/http", json=form)).json()["ChannelId"]
    store = {"entityId": id, "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    answers = [
        await application.admin.get(ADMIN),
        await application.admin.get(f"{ADMIN}/{id}"),
        await application.admin.get("/eventchannels/v2"),
        await application.admin.get("/events/store", params=store),
    ]
    assert all(answer.status_code == 200 and SECRET not in answer.text for answer in answers)
    assert len(answers[-1].json()) == 1
    for file in application.platform.settings.folder.rglob("penstock.db*"):
        assert SECRET.encode() not in file.read_bytes()


async def test_a_mask_is_no_secret(application: Application) -> None:
    shown = (await entity_of(application, await http_channel(application)))["Endpoints"][0]["JsonConfiguration"]
    form = {"Name": new_name(), "Type": "http", "Configuration": shown}
    assert set(errors_of(await application.operator.post(PUBLIC, json=form))) == {"Endpoints[0].Configuration.password"}


async def http_channel(application: Application) -> str:
    configuration = {"url": "https://1.1.1.1/", "username": "ann", "password": SECRET}
    return await make_channel(application, Type="http", Configuration=msgspec.json.encode(configuration).decode())


@pytest.mark.parametrize("admin_set", [False, True])
async def test_a_removed_channel_is_gone_with_its_subscriptions_and_streams(
    application: Application, admin_set: bool
) -> None:
    name, kind = await make_channel(application), new_name()
    await subscribe(application, name, EventType=kind)
    await publish(application, event(kind))
    await routed(application, name, 1)
    entity = await entity_of(application, name)
    if admin_set:
        answer = await application.admin.delete(f"{ADMIN}/{entity['Id']}")
    else:
        answer = await application.operator.delete(PUBLIC, params={"channelName": name.upper()})
    assert (answer.status_code, answer.json()) == (200, name)
    assert name not in (await application.reader.get(PUBLIC)).text
    assert name not in (await application.reader.get("/api/EventHub/Admin/subscriptions")).text
    assert name not in (await application.reader.get("/eventing/streams")).text
    assert (await application.reader.get(f"{ADMIN}/{entity['Id']}")).status_code == 404
    assert (await application.operator.delete(PUBLIC, params={"channelName": name})).status_code == 404
    assert (await publish(application, event(kind))).status_code == 200
    assert await make_channel(application, name) == name
    assert (await publish(application, event(kind))).status_code == 200
    assert await routed(application, name, 0) == []


async def test_a_stale_etag_removes_nothing(application: Application) -> None:
    name = await make_channel(application)
    e_tag, query = (await entity_of(application, name))["ETag"], {"channelName": name}
    refused = await application.operator.delete(PUBLIC, params=query, headers={"If-Match": '"stale"'})
    assert refused.status_code == 412
    assert (await entity_of(application, name))["ETag"] == e_tag
    gone = await application.operator.delete(PUBLIC, params=query, headers={"If-Match": f'"{e_tag}"'})
    assert gone.status_code == 200


async def test_a_stream_that_is_missing_is_made_again(application: Application) -> None:
    name, kind = await make_channel(application), new_name()
    await subscribe(application, name, EventType=kind)
    streams = Streams(application.platform.container.get(Bus))
    await streams.delete(f"eventchannel-{name}")
    sent = event(kind)
    await publish(application, sent)

    async def there() -> bool:
        return f"eventchannel-{name}" in [info.name for info in await streams.list()]

    await until(there)
    assert await routed(application, name, 1) == [sent]


async def test_roles(application: Application) -> None:
    form = {"Name": new_name()}
    assert (await application.reader.post(PUBLIC, json=form)).status_code == 403
    assert (await application.operator.post(ADMIN, json=form)).status_code == 403
    assert (await application.admin.post(ADMIN, json=form)).status_code == 201
    assert (await application.anonymous.get(PUBLIC)).status_code == 401


async def test_unknown_channels_are_not_found(application: Application) -> None:
    assert (await application.reader.get(f"{ADMIN}/{uuid4()}")).status_code == 404
    assert (await application.admin.delete(f"{ADMIN}/{uuid4()}")).status_code == 404
    assert (await application.reader.get("/eventchannels/v2/nothing")).status_code == 404
    assert (await application.operator.delete(PUBLIC, params={"channelName": "nothing"})).status_code == 404
