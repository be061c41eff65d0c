import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.channel_delivery import ChannelDelivery, DeliveryParts
from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key
from tests.application import Application, running_application
from tests.areas.event_channels import TestChannel, event
from tests.areas.waiting import until
from tests.http_sink import HttpSink, Reply, http_sink

REFUSE = Reply(500, body=b"no")


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


@pytest.fixture
async def channel(application: Application) -> AsyncIterator[TestChannel]:
    made = TestChannel(application)
    yield made
    await made.remove()


def http(sink: HttpSink, **configuration: Any) -> dict[str, Any]:
    return {"type": "http", "url": sink.url, **configuration}


def refuse(*ids: str) -> Any:
    """Answers 500 to the events of these ids, 204 to others."""
    return lambda request: REFUSE if request.event["id"] in ids else Reply()


def ids(sink: HttpSink) -> list[str]:
    return [event["id"] for event in sink.events]


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


# Dead letters


async def test_after_the_last_try_an_event_is_a_dead_letter_with_the_reason(
    channel: TestChannel, sink: HttpSink
) -> None:
    await channel.make(http(sink))
    sink.answer = refuse("a")
    await channel.publish(event("a"), event("b"))
    [letter] = await channel.dead_letters()
    await channel.done()
    assert ids(sink) == ["a"] * 5 + ["b"]
    assert (letter["EventId"], letter["EventSource"], letter["Json"]) == ("a", "/tests", None)
    assert letter["Failures"] == [{"Type": "http", "Position": 0, "Tries": 5, "Error": "the address answered 500: no"}]


async def test_an_event_that_can_never_be_delivered_is_not_tried_again(channel: TestChannel) -> None:
    await channel.make({"type": "entitystore", "entityId": "${nothing}"})
    await channel.publish(event("a"))
    [letter] = await channel.dead_letters()
    assert (letter["Failures"][0]["Tries"], letter["Failures"][0]["Type"]) == (1, "entitystore")


async def test_an_event_that_a_component_fails_on_is_a_dead_letter(channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink), components=[{"type": "enrich", "data": {"a": 1}}])
    await channel.publish(event("a", data=[1]), event("b"))
    [letter] = await channel.dead_letters()
    assert letter["Failures"][0]["Type"] == "components"
    await sink.received(1)
    assert ids(sink) == ["b"]


async def test_a_dead_letter_is_read_whole(application: Application, channel: TestChannel, sink: HttpSink) -> None:
    await channel.make(http(sink))
    sink.answer = refuse("a")
    await channel.publish(event("a"))
    [letter] = await channel.dead_letters()
    path = f"/eventing/deadletters/{channel.name}"
    whole = (await application.reader.get(f"{path}/{letter['Sequence']}")).json()
    assert event("a").to_json().decode() == whole["Json"]
    assert {**whole, "Json": None} == letter
    assert (await application.reader.get(f"{path}/999")).status_code == 404
    assert (await application.reader.get("/eventing/deadletters/nobody")).status_code == 404
    queues = (await application.reader.get("/eventing/deadletters")).json()
    assert [queue["Count"] for queue in queues if queue["Channel"] == channel.name] == [1]


@pytest.fixture
async def failed(channel: TestChannel, sink: HttpSink) -> TestChannel:
    """A channel with the dead letters of the events 0 to 3; its endpoint takes all from now on."""
    await channel.make(http(sink), parallel=4)
    sink.answer = lambda request: REFUSE
    for number in range(4):
        await channel.publish(event(str(number)))
        await channel.dead_letters(number + 1)
    await channel.done()
    sink.answer = lambda request: Reply()
    sink.requests.clear()
    return channel


async def test_dead_letters_come_in_pages_newest_first(application: Application, failed: TestChannel) -> None:
    path = f"/eventing/deadletters/{failed.name}"
    first = await application.reader.get(path, params={"Count": 3})
    assert [letter["EventId"] for letter in first.json()] == ["3", "2", "1"]
    second = await application.reader.get(first.links["next"]["url"])
    assert [letter["EventId"] for letter in second.json()] == ["0"]
    since = first.json()[1]["Time"]
    assert len((await application.reader.get(path, params={"FromDate": since})).json()) == 2


async def test_one_dead_letter_is_delivered_again(
    application: Application, failed: TestChannel, sink: HttpSink
) -> None:
    letters = await failed.dead_letters(4)
    answer = await application.operator.post(f"/eventing/deadletters/{failed.name}/{letters[1]['Sequence']}/replay")
    assert answer.json() == {"Count": 1, "Complete": True}
    await sink.received(1)
    await failed.done()
    assert ids(sink) == ["2"]
    assert [letter["EventId"] for letter in await failed.dead_letters(3)] == ["3", "1", "0"]


async def test_a_range_of_dead_letters_is_delivered_again(
    application: Application, failed: TestChannel, sink: HttpSink
) -> None:
    letters = await failed.dead_letters(4)
    bounds = {"FirstSequence": letters[2]["Sequence"], "ToDate": letters[1]["Time"]}
    answer = await application.operator.post(f"/eventing/deadletters/{failed.name}/replay", params=bounds)
    assert answer.json()["Count"] == 2
    await sink.received(2)
    assert set(ids(sink)) == {"1", "2"}
    rest = await application.operator.post(f"/eventing/deadletters/{failed.name}/replay")
    assert rest.json()["Count"] == 2
    await sink.received(4)
    await failed.done()
    assert (await failed.state())["DeadLetters"] == 0


async def test_a_replayed_event_goes_only_to_endpoints_that_lack_it(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    async with http_sink() as other:
        other.answer = lambda request: REFUSE
        await channel.make(http(sink), http(other))
        await channel.publish(event("a"))
        await channel.dead_letters()
        other.answer = lambda request: Reply()
        await application.operator.post(f"/eventing/deadletters/{channel.name}/replay")
        await other.received(6)
        await channel.done()
        assert (len(sink.requests), len(other.requests)) == (1, 6)


async def test_what_fails_again_is_a_new_dead_letter(
    application: Application, failed: TestChannel, sink: HttpSink
) -> None:
    sink.answer = refuse("1")
    answer = await application.operator.post(f"/eventing/deadletters/{failed.name}/replay")
    assert answer.json()["Count"] == 4
    await sink.received(8)
    [letter] = await failed.dead_letters()
    assert letter["EventId"] == "1"
    assert letter["Sequence"] > 4


async def test_dead_letters_are_discarded(application: Application, failed: TestChannel, sink: HttpSink) -> None:
    letters = await failed.dead_letters(4)
    path = f"/eventing/deadletters/{failed.name}"
    one = await application.operator.delete(f"{path}/{letters[0]['Sequence']}")
    assert one.json()["Count"] == 1
    assert (await application.operator.delete(f"{path}/{letters[0]['Sequence']}")).status_code == 404
    upto = {"LastSequence": letters[2]["Sequence"]}
    assert (await application.operator.delete(path, params=upto)).json()["Count"] == 2
    assert [letter["EventId"] for letter in await failed.dead_letters(1)] == ["2"]
    assert sink.requests == []


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_readers_neither_replay_nor_discard(application: Application, failed: TestChannel, method: str) -> None:
    suffix = "/replay" if method == "POST" else ""
    answer = await application.reader.request(method, f"/eventing/deadletters/{failed.name}{suffix}")
    assert answer.status_code == 403
    assert len(await failed.dead_letters(4)) == 4


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


# Replay of history


async def test_events_of_a_range_of_time_are_delivered_again_in_their_order(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    await channel.make(http(sink))
    await channel.publish(*(event(str(number)) for number in range(5)))
    await channel.publish(event("other", type="test.other"))
    await sink.received(6)
    answer = await replay(application, channel, EventType="test.happened")
    assert (answer["Replayed"], answer["Complete"]) == (5, True)
    await sink.received(11)
    assert ids(sink)[6:] == [str(number) for number in range(5)]


async def test_a_long_range_is_replayed_step_by_step(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    await channel.make(http(sink))
    await channel.publish(*(event(str(number)) for number in range(5)))
    await sink.received(5)
    first_of_them = (await replay(application, channel, Limit=10_000))["LastSequence"] - 4
    await sink.received(10)
    after, replayed, complete = first_of_them - 1, 0, False
    while not complete:
        answer = await replay(application, channel, Limit=2, AfterSequence=after)
        after, replayed, complete = answer["LastSequence"], replayed + answer["Replayed"], answer["Complete"]
    assert replayed == 5
    await sink.received(15)


async def test_a_new_channel_can_have_what_went_to_others(
    application: Application, channel: TestChannel, sink: HttpSink
) -> None:
    newer = TestChannel(application)
    source = f"/{channel.name}"
    await channel.make({"type": "log"})
    await newer.make(http(sink))
    await channel.publish(event("a", source=source))
    assert (await replay(application, newer))["Replayed"] == 0
    assert (await replay(application, newer, All=True, Source=source))["Replayed"] == 1
    await sink.received(1)
    await newer.remove()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"Limit": 0}, "Limit"),
        ({"Limit": 10_001}, "Limit"),
        ({"AfterSequence": -1}, "AfterSequence"),
        ({"ToDate": "2019-01-01"}, "ToDate"),
    ],
)
async def test_what_cannot_be_replayed_is_refused_by_name(
    application: Application, channel: TestChannel, wrong: dict[str, Any], field: str
) -> None:
    await channel.make({"type": "log"})
    body = {"Channel": channel.name, "FromDate": "2020-01-01", "ToDate": "2100-01-01", **wrong}
    answer = await application.operator.post("/eventing/replays", json=body)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_history_is_replayed_to_existing_channels_only(application: Application) -> None:
    body = {"Channel": "nobody", "FromDate": "2020-01-01", "ToDate": "2100-01-01"}
    assert (await application.operator.post("/eventing/replays", json=body)).status_code == 404


async def replay(application: Application, channel: TestChannel, **wanted: Any) -> dict[str, Any]:
    body = {"Channel": channel.name, "FromDate": "2020-01-01", "ToDate": "2100-01-01", **wanted}
    answer = await application.operator.post("/eventing/replays", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


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
