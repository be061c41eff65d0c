"""Events that were accepted, delivered once more to one channel."""

from typing import Any

import pytest

from tests.application import Application
from tests.areas.event_channels import TestChannel, event, http, ids
from tests.http_sink import HttpSink

pytest_plugins = ("tests.areas.delivered",)


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
