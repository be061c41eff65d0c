"""Subscriptions over HTTP, and which events they bring."""

import asyncio
from datetime import UTC, datetime
from itertools import product
from uuid import uuid4

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import CHANNELS, SUBSCRIPTIONS, Subscription
from penstock.kernel.actor import SYSTEM
from penstock.store.store import Store
from penstock.store.write import Delete, Insert
from tests.application import Application
from tests.areas.events import (
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

PUBLIC = "/api/EventHub/Subscriptions"
ADMIN = "/api/EventHub/Admin/subscriptions"


async def id_of(application: Application, channel: str) -> str:
    channels = (await application.reader.get("/api/EventHub/Channels")).json()
    return str(next(each["ChannelId"] for each in channels if each["Name"] == channel))


async def test_a_subscription_is_made_and_read_in_every_form(application: Application) -> None:
    channel = await make_channel(application, AppId="shop")
    made = await subscribe(application, channel.upper(), EventType="order.placed")
    whole = {"ChannelName": channel, "Source": "*", "EventType": "order.placed", "SpecVersion": "*"}
    assert (made.status_code, made.json()) == (201, whole)
    await subscribe(application, channel, Source="/a", SpecVersion="1.0")
    grouped = (await application.reader.get(PUBLIC)).json()
    mine = next(each for each in grouped if each["ChannelName"] == channel)
    assert mine["Subscriptions"] == ["* /a 1.0", "order.placed * *"]
    entities = [each for each in (await application.reader.get(ADMIN)).json() if each["ChannelName"] == channel]
    assert [each["EventType"] for each in entities] == ["*", "order.placed"]
    assert {each["ChannelId"] for each in entities} == {mine["ChannelId"]}
    assert {each["AppId"] for each in entities} == {"shop"}
    one = entities[0]
    assert (await application.reader.get(f"{ADMIN}/{one['Id']}")).json() == one
    described = (await application.reader.get(f"/eventsubscriptions/v2/{one['Id']}")).json()
    assert described == {
        "Name": one["Id"],
        "Description": None,
        "Source": "/a",
        "Channel": channel,
        "CreatedAt": one["CreatedDate"],
    }
    assert described in (await application.reader.get("/eventsubscriptions/v2")).json()


async def test_a_channel_without_subscriptions_is_listed_with_none(application: Application) -> None:
    channel = await make_channel(application)
    grouped = (await application.reader.get(PUBLIC)).json()
    assert next(each for each in grouped if each["ChannelName"] == channel)["Subscriptions"] == []


async def test_the_admin_set_makes_and_removes_by_id(application: Application) -> None:
    channel = await make_channel(application)
    query = {"channelId": await id_of(application, channel), "source": "/a", "eventType": "t", "specVersion": "*"}
    made = await application.admin.post(ADMIN, params=query)
    assert made.status_code == 201
    assert (made.json()["ChannelName"], made.json()["Source"], made.json()["SpecVersion"]) == (channel, "/a", "*")
    gone = await application.admin.delete(ADMIN, params={"subscriptionId": made.json()["Id"]})
    assert (gone.status_code, gone.json()) == (200, made.json()["Id"])
    assert (await application.admin.delete(ADMIN, params={"subscriptionId": made.json()["Id"]})).status_code == 404


async def test_the_public_set_removes_what_is_exactly_the_same(application: Application) -> None:
    channel = await make_channel(application)
    await subscribe(application, channel, EventType="t")

    async def remove(**wanted: str) -> int:
        body = {"ChannelName": channel, **wanted}
        return (await application.operator.request("DELETE", PUBLIC, json=body)).status_code

    assert await remove(EventType="u") == 404
    assert await remove(EventType="t", Source="/a") == 404
    assert await remove(EventType="t", Source="*") == 200
    assert await remove(EventType="t") == 404


async def test_a_channel_has_a_subscription_once(application: Application) -> None:
    channel, other = await make_channel(application), await make_channel(application)
    assert (await subscribe(application, channel, EventType="t")).status_code == 201
    again = await subscribe(application, channel, EventType="t", Source="*", SpecVersion="*")
    assert (again.status_code, again.json()["code"]) == (409, "name-taken")
    assert (await subscribe(application, other, EventType="t")).status_code == 201


async def test_bad_subscriptions_are_refused(application: Application) -> None:
    channel = await make_channel(application)
    assert (await subscribe(application, "nothing")).status_code == 404
    wrong = await subscribe(application, channel, Source="a\nb", EventType="x" * 1025)
    assert set(errors_of(wrong)) == {"Source", "EventType"}
    query = {"channelId": str(uuid4()), "source": "*", "eventType": "*", "specVersion": "*"}
    assert (await application.admin.post(ADMIN, params=query)).status_code == 404
    assert (await application.reader.get(f"{ADMIN}/{uuid4()}")).status_code == 404
    assert (await application.reader.get("/eventsubscriptions/v2/nothing")).status_code == 404
    assert (await application.reader.post(PUBLIC, json={"ChannelName": channel})).status_code == 403


async def test_each_part_of_a_subscription_is_exact_or_any(application: Application) -> None:
    mark = new_name()
    sources, types = [f"/{mark}/a", f"/{mark}/b"], [f"{mark}.t", f"{mark}.u"]
    channels = {}
    for source, type, version in product([*sources, "*"], [*types, "*"], ["1.0", "*", "2.0"]):
        if (source, type) != ("*", "*"):  # that one would get the events of all other tests
            channels[source, type, version] = await make_channel(application)
            await subscribe(
                application, channels[source, type, version], Source=source, EventType=type, SpecVersion=version
            )
    sent = [event(type, source=source) for source in sources for type in types]
    assert (await publish(application, *sent)).status_code == 200
    await in_order(application)
    for (source, type, version), channel in channels.items():
        expected = [
            each
            for each in sent
            if source in ("*", each["source"]) and type in ("*", each["type"]) and version in ("*", "1.0")
        ]
        assert await routed(application, channel, len(expected)) == expected, (source, type, version)


async def test_a_channel_gets_an_event_once_however_many_subscriptions_match(application: Application) -> None:
    channel, kind = await make_channel(application), new_name()
    await subscribe(application, channel, EventType=kind)
    await subscribe(application, channel, EventType=kind, Source="/tests")
    await subscribe(application, channel, EventType=kind, SpecVersion="1.0")
    sent = event(kind)
    await publish(application, sent)
    await in_order(application)
    assert await routed(application, channel, 1) == [sent]


async def test_a_subscription_counts_from_its_answer_on_and_no_longer_than_its_removal(
    application: Application,
) -> None:
    channel, kind = await make_channel(application), new_name()
    body = {"ChannelName": channel, "EventType": kind}
    expected = []
    for number in range(5):
        await subscribe(application, channel, EventType=kind)
        expected.append(event(kind, data=number))
        await publish(application, expected[-1])
        await application.operator.request("DELETE", PUBLIC, json=body)
        await publish(application, event(kind))
    await in_order(application)
    assert await routed(application, channel, 5) == expected


async def test_subscriptions_made_at_once_all_count(application: Application) -> None:
    kind = new_name()
    channels = [await make_channel(application) for _ in range(10)]
    await asyncio.gather(*(subscribe(application, channel, EventType=kind) for channel in channels))
    sent = event(kind)
    await publish(application, sent)
    for channel in channels:
        assert await routed(application, channel, 1) == [sent]


def store_of(application: Application) -> Store:
    return application.platform.container.get(Store)  # type: ignore[type-abstract]


async def test_a_change_on_another_replica_is_noticed(application: Application) -> None:
    channel, kind = await make_channel(application), new_name()
    entity = await application.platform.container.get(ChannelService).resource.named(channel)
    now = datetime.now(UTC)
    subscription = Subscription(
        channel_id=entity.key, channel_name=channel, event_type=kind, spec_version="*", source="*"
    ).created(SYSTEM, now)
    store = store_of(application)
    await store.commit([Insert(SUBSCRIPTIONS, subscription.key, subscription.e_tag or "", subscription, now)])
    application.platform.container.get(RoutingTable).invalidate(SUBSCRIPTIONS.name)  # as the other's notice does
    sent = event(kind)
    await publish(application, sent)
    assert await routed(application, channel, 1) == [sent]


async def test_a_subscription_whose_channel_is_gone_is_removed(application: Application) -> None:
    channel = await make_channel(application)
    await subscribe(application, channel, EventType=new_name())
    service = application.platform.container.get(ChannelService)
    entity = await service.resource.named(channel)
    store = store_of(application)
    await store.commit([Delete(CHANNELS, entity.key, datetime.now(UTC))])  # and then the process died
    assert channel in (await application.reader.get(ADMIN)).text
    await service.drop_orphans()
    assert channel not in (await application.reader.get(ADMIN)).text
    assert await messages_of(application, channel) == []
