"""Events on their way from a channel to its endpoints."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.channel_delivery import ChannelDelivery, DeliveryParts
from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.kernel.errors import NotFound
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key
from tests.application import Application, running_application
from tests.areas.event_channels import REFUSE, TestChannel, event, http, ids, refuse
from tests.areas.waiting import until
from tests.http_sink import HttpSink, Reply, http_sink

pytest_plugins = ("tests.areas.delivered",)


# Pipelines


async def test_events_arrive_whole_and_in_their_order(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink))
    events = [event(str(number), data={"number": number}) for number in range(50)]
    await channel.publish(*events)
    await sink.received(50)
    assert sink.events == [each.value() for each in events]


async def test_components_are_applied_in_their_order_before_the_endpoints(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(
        http(sink),
        components=[
            {"type": "filter", "expression": "data.number > 1"},
            {"type": "enrich", "data": {"site": "north"}},
            {"type": "transform", "data": {"text": "${data.number} ${data.site}"}},
        ],
    )
    await channel.publish(*(event(str(number), data={"number": number}) for number in range(4)))
    await sink.received(2)
    await channel.done()
    assert [event["data"] for event in sink.events] == [{"text": "2 north"}, {"text": "3 north"}]


async def test_every_endpoint_gets_every_event_in_the_order_of_positions(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink, headers={"X-Number": "1"}), http(sink, headers={"X-Number": "2"}))
    await channel.publish(event("a"), event("b"))
    await sink.received(4)
    assert [(r.event["id"], r.headers["x-number"]) for r in sink.requests] == [
        ("a", "1"),
        ("a", "2"),
        ("b", "1"),
        ("b", "2"),
    ]


async def test_an_event_can_go_to_stream_mailbox_and_entity_store_at_once(
    application: Application, channel: TestChannel
) -> None:
    bus = application.platform.container.get(Bus)
    await channel.make(
        {"type": "stream", "name": channel.name},
        {"type": "mailbox"},
        {"type": "entitystore", "entityType": "test", "entityId": channel.name},
        {"type": "log"},
    )
    await channel.publish(event("a"))
    bucket = Bucket(bus, BucketSpec(bucket=BUCKET, history=HISTORY))

    async def stored() -> bool:
        return await bucket.get(entity_key("test", channel.name)) is not None

    await until(stored)
    await channel.done()
    for stream in (f"events-{channel.name}", f"mailbox-{channel.name}"):
        assert len(await StreamReader(bus).after(stream, 0)) == 1
        await Streams(bus).delete(stream)


async def test_a_parallel_channel_delivers_several_events_at_once(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink), parallel=4)
    sink.answer = lambda request: Reply(pause=60)
    await channel.publish(*(event(str(number)) for number in range(8)))
    # None of them is answered.
    await sink.received(4)
    await channel.apply(endpoints=[{"type": "log"}], parallel=4)


# Retries


async def test_a_failed_event_is_tried_again_and_holds_up_those_behind_it(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink))
    sink.reply_in_turn(REFUSE, REFUSE, Reply())
    await channel.publish(event("a"), event("b"))
    await sink.received(4)
    await channel.done()
    assert ids(sink) == ["a", "a", "a", "b"]
    assert len({request.headers["webhook-id"] for request in sink.requests[:3]}) == 1
    assert (await channel.state())["DeadLetters"] == 0


async def test_in_parallel_a_failed_event_does_not_hold_up_others(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink), parallel=2)
    tries = count()
    sink.answer = lambda request: REFUSE if request.event["id"] == "a" and next(tries) < 2 else Reply()
    await channel.publish(event("a"), *(event(str(number)) for number in range(20)))
    await sink.received(23)
    assert ids(sink)[-1] == "a"


async def test_an_endpoint_that_has_an_event_is_not_called_again_for_it(channel: TestChannel, sink: HttpSink) -> None:
    async with http_sink() as other:
        await channel.make(http(sink), http(other))
        other.reply_in_turn(REFUSE, REFUSE, Reply())
        await channel.publish(event("a"))
        await other.received(3)
        await channel.done()
        assert (len(sink.requests), len(other.requests)) == (1, 3)


async def test_the_time_that_an_answer_asks_for_is_waited(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink))
    sink.reply_in_turn(Reply(503, {"retry-after": "600"}), Reply())
    await channel.publish(event("a"))
    await sink.received(1)
    # Its own pauses would be over several times by then; only a change of the channel ends the wait.
    await asyncio.sleep(0.6)
    assert len(sink.requests) == 1
    await channel.apply(endpoints=[{"type": "http", "configuration": {"url": sink.url, "headers": {"X": "1"}}}])
    await sink.received(2)
    assert sink.requests[1].headers["x"] == "1"


async def test_an_endpoint_that_is_down_does_not_touch_other_channels(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    down = TestChannel(application)
    await down.make({"type": "http", "url": "http://127.0.0.1:1/"})
    await channel.make(http(sink))
    for number in range(5):
        await down.publish(event(f"down-{number}"))
        await channel.publish(event(str(number)))
    await sink.received(5)
    assert ids(sink) == [str(number) for number in range(5)]
    await down.remove()


# Channels that change


async def test_a_changed_channel_delivers_to_its_new_endpoint_without_losing_any(
    channel: TestChannel, sink: HttpSink
) -> None:
    async with http_sink() as other:
        await channel.apply(type="http", parameters={"url": sink.url})
        await channel.publish(event("a"))
        await sink.received(1)
        await channel.apply(type="http", parameters={"url": other.url})
        await channel.publish(*(event(str(number)) for number in range(20)))
        await until(lambda: _have(21, sink, other))
        # The notice of the change may come after the first of them.
        assert [*ids(sink)[1:], *ids(other)] == [str(number) for number in range(20)]
        await until(lambda: _holds_next(channel, other))


async def _have(number: int, *sinks: HttpSink) -> bool:
    return sum(len(sink.requests) for sink in sinks) == number


async def _holds_next(channel: TestChannel, sink: HttpSink) -> bool:
    """Whether an event of now goes there."""
    await channel.publish(event(f"next-{next(_numbers)}"))
    return bool(sink.requests)


_numbers = count()


async def test_variables_are_replaced_and_followed(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    async with http_sink() as other:
        name = f"url-{channel.name}"
        await set_variable(application, name, sink.url, secret=True)
        await channel.make({"type": "http", "url": f"{{{{var:{name}}}}}"})
        await channel.publish(event("a"))
        await sink.received(1)
        await set_variable(application, name, other.url, secret=True)

        await until(lambda: _holds_next(channel, other))


async def test_secrets_stay_out_of_dead_letters(application: Application, channel: TestChannel, sink: HttpSink) -> None:
    name = f"token-{channel.name}"
    await set_variable(application, name, "open-sesame", secret=True)
    sink.answer = lambda request: Reply(500, body=f"bad token {request.headers['x-token']}".encode())
    await channel.make(http(sink, secretHeaders={"X-Token": f"{{{{var:{name}}}}}"}))
    await channel.publish(event("a"))
    [letter] = await channel.dead_letters()
    assert sink.requests[0].headers["x-token"] == "open-sesame"
    assert letter["Failures"][0]["Error"] == "the address answered 500: bad token ******"


async def test_a_channel_whose_variable_is_missing_waits_for_it(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    name = f"late-{channel.name}"
    await channel.make({"type": "http", "url": f"{{{{var:{name}}}}}"})
    await channel.publish(event("a"))
    await until(lambda: _in_hand(channel))
    await set_variable(application, name, sink.url)
    await sink.received(1)
    await channel.done()
    assert (await channel.state())["DeadLetters"] == 0


async def _in_hand(channel: TestChannel) -> bool:
    return (await channel.state())["InHand"] == 1


async def set_variable(application: Application, name: str, value: str, secret: bool = False) -> None:
    spec = {"value": value, "isSecret": secret}
    answer = await application.apply(
        {"apiVersion": "penstock/v1alpha1", "kind": "Variable", "metadata": {"name": name}, "spec": spec}
    )
    assert answer.status_code == 202, answer.text


async def test_a_channel_made_anew_under_the_same_name_is_delivered(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink))
    await channel.publish(event("a"))
    await sink.received(1)
    await channel.remove()
    await channel.make(http(sink))
    await channel.publish(event("b"))
    await sink.received(2)
    assert ids(sink) == ["a", "b"]


async def test_gone_disables_the_channel_and_says_so_until_it_is_enabled(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    await channel.make(http(sink))
    sink.answer = lambda request: Reply(410)
    await channel.publish(event("a"), event("b"))

    async def disabled() -> dict[str, Any] | None:
        state = await channel.state()
        return state if state["DisabledSince"] else None

    state = await until(disabled)
    assert state is not None
    assert state["DisabledReason"] == "the endpoint http at position 0 answered that it is gone"
    assert state["DeadLetters"] == 0
    query = {"entityId": channel.id, "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    answer = await application.admin.get("/events/store", params=query)
    assert answer.status_code == 200, answer.text
    audit = answer.json()
    assert any(state["DisabledReason"] in item["Content"] for item in audit)
    tries = len(sink.requests)
    sink.answer = lambda request: Reply()
    answer = await application.operator.post(f"/eventing/deliveries/{channel.name}/enable")
    assert answer.json()["DisabledSince"] is None
    await sink.received(tries + 2)
    assert ids(sink)[tries:] == ["a", "b"]


async def test_the_state_of_every_channel_is_listed(application: Application, channel: TestChannel) -> None:
    await channel.make({"type": "log"})
    states = (await application.reader.get("/eventing/deliveries")).json()
    assert [state for state in states if state["Channel"] == channel.name] == [await channel.state()]
    assert (await application.reader.get("/eventing/deliveries/nobody")).status_code == 404


async def test_private_addresses_are_refused_when_a_channel_is_made(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_ALLOW_PRIVATE_ADDRESSES="false") as guarded:
        answer = await guarded.operator.post(
            "/api/EventHub/Channels/http",
            json={"ChannelId": "00000000-0000-0000-0000-000000000000", "Name": "x", "Endpoint": "http://127.0.0.1/"},
        )
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == ["Endpoint"]


# Several replicas


async def test_a_stream_read_by_two_deliveries_gives_each_event_to_one_of_them(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    await channel.make(http(sink))
    container = application.platform.container
    found = await container.get(ChannelService).resource.named(channel.name)
    second = asyncio.create_task(ChannelDelivery(found, container.get(DeliveryParts)).run())
    await channel.publish(*(event(str(number)) for number in range(100)))
    await sink.received(100)
    await channel.done()
    second.cancel()
    await asyncio.wait([second])
    assert ids(sink) == [str(number) for number in range(100)]


async def test_an_endpoint_that_has_an_event_is_not_called_again_by_the_next_server(tmp_path: Path) -> None:
    async with http_sink() as served, http_sink() as down:
        down.answer = refuse("a")
        async with running_application(tmp_path, PENSTOCK_DELIVERY_RETRY_SECONDS="600") as first:
            channel = TestChannel(first)
            await channel.make(http(served), http(down))
            await channel.publish(event("a"))
            await down.received(1)
            await until(lambda: _are_kept(first, 1))
        down.answer = lambda request: Reply()
        async with running_application(tmp_path) as second:
            channel.application = second
            await down.received(2)
            await channel.done()
            await until(lambda: _are_kept(second, 0))
    assert (ids(served), ids(down)) == (["a"], ["a", "a"])


async def _are_kept(application: Application, count: int) -> bool:
    bucket = Bucket(application.platform.container.get(Bus), BucketSpec(bucket="partial-deliveries"))
    try:
        return len(await bucket.keys()) == count
    except NotFound:
        return False
