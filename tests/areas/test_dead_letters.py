"""Events that could not be delivered: kept with the reason, delivered again, discarded."""

import pytest

from tests.application import Application
from tests.areas.event_channels import REFUSE, TestChannel, event, http, ids, refuse
from tests.http_sink import HttpSink, Reply, http_sink

pytest_plugins = ("tests.areas.delivered",)


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
