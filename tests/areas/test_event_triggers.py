"""Event triggers: each accepted event that one matches runs its action once."""

from typing import Any
from uuid import uuid4

import pytest

from tests.application import Application
from tests.areas.events import event, new_name, publish
from tests.areas.resource_suite import Audited, Readable
from tests.areas.scripts import (
    GREETING,
    NEVER_ENDING,
    Entity,
    constants,
    fields_of,
    finished_runs,
    make_action,
    runs_of,
)
from tests.areas.waiting import until

PATH = "/automation/triggers/event"


async def make_trigger(application: Application, action: Entity, **form: Any) -> Entity:
    body = {"ActionId": action["Id"], "Parameters": constants(name='"Ada"'), **form}
    answer = await application.operator.post(PATH, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


class TestEventTriggers(Readable, Audited):
    path = PATH

    async def make(self, application: Application, name: str) -> Entity:
        return await make_trigger(application, await make_action(application), Name=name, EventType=name)


async def test_a_matching_event_runs_the_action_with_what_paths_take_from_it(application: Application) -> None:
    action, type = await make_action(application), new_name()
    parameters = [
        {"Name": "name", "JsonPath": "$.data.customer.name"},
        {"Name": "times", "JsonPath": "$.data.items[1]"},
        *constants(greeting='"Hi"'),
    ]
    trigger = await make_trigger(application, action, EventType=type, Parameters=parameters)
    await publish(application, event(type, data={"customer": {"name": "Zoë"}, "items": [1, 2]}))
    (run,) = await finished_runs(application, action, 1)
    assert run["StatusCode"] == 200
    assert {each["Name"]: each["ValueJson"] for each in run["Parameters"]} == {
        "greeting": '"Hi"',
        "name": '"Zoë"',
        "times": "2",
    }
    assert run["TriggerId"] == trigger["Id"]


@pytest.mark.parametrize(
    ("form", "matches"),
    [
        ({}, True),
        ({"EventSource": "/tests", "Version": "1.0"}, True),
        ({"EventSource": "*", "Version": "*"}, True),
        ({"EventSource": "/others"}, False),
        ({"EventSource": "/test*"}, False),
        ({"Version": "2.0"}, False),
    ],
)
async def test_each_part_is_exact_or_any(application: Application, form: dict[str, str], matches: bool) -> None:
    action, type = await make_action(application), new_name()
    other = await make_action(application)
    await make_trigger(application, action, EventType=type, **form)
    await make_trigger(application, other, EventType=type)
    await publish(application, event(type))
    await finished_runs(application, other, 1)  # by then both have been matched
    assert (
        len(await finished_runs(application, action, 1)) == 1 if matches else await runs_of(application, action) == []
    )


async def test_every_event_of_many_runs_it_once(application: Application) -> None:
    action, type = await make_action(application), new_name()
    parameters = [{"Name": "name", "JsonPath": "$.id"}]
    await make_trigger(application, action, EventType=type, Parameters=parameters)
    events = [event(type) for _ in range(6)]
    await publish(application, *events)
    await publish(application, *events[:3])  # known: stored once
    runs = await finished_runs(application, action, 6)
    assert sorted(run["ReceivedParameters"][0]["ValueJson"] for run in runs) == sorted(
        f'"{each["id"]}"' for each in events
    )


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("$.data.name", {}, "the event has nothing at $.data.name"),
        ("$.data.name", {"name": 5}, "must be of type string"),
        ("$.data..name", {"name": "Ada"}, "must be of type string, not array"),
    ],
)
async def test_an_event_without_fitting_values_is_a_failed_run_on_record(
    application: Application, path: str, data: dict[str, Any], reason: str
) -> None:
    action, type = await make_action(application), new_name()
    await make_trigger(application, action, EventType=type, Parameters=[{"Name": "name", "JsonPath": path}])
    await publish(application, event(type, data=data))
    (run,) = await finished_runs(application, action, 1)
    assert run["StatusCode"] == 400
    assert reason in run["Error"]


async def test_one_that_is_disabled_runs_nothing_until_it_is_enabled(application: Application) -> None:
    action, type = await make_action(application), new_name()
    trigger = await make_trigger(application, action, EventType=type)
    address = f"{PATH}/{trigger['Id']}/enabled"
    assert (await application.operator.put(address)).json()["IsEnabled"] is False
    await publish(application, event(type))
    assert (await application.operator.put(address)).json()["IsEnabled"] is True
    await publish(application, event(type, source="/later"))
    (run,) = await finished_runs(application, action, 1)
    assert run["StatusCode"] == 200


async def test_events_from_before_it_was_made_run_nothing(application: Application) -> None:
    action, type = await make_action(application), new_name()
    await publish(application, event(type))
    await make_trigger(application, action, EventType=type)
    await publish(application, event(type))
    assert len(await finished_runs(application, action, 1)) == 1


async def test_a_deleted_one_runs_nothing(application: Application) -> None:
    action, other, type = await make_action(application), await make_action(application), new_name()
    trigger = await make_trigger(application, action, EventType=type)
    await make_trigger(application, other, EventType=type)
    assert (await application.operator.delete(f"{PATH}/{trigger['Id']}")).status_code == 200
    await publish(application, event(type))
    await finished_runs(application, other, 1)
    assert await runs_of(application, action) == []


async def test_one_that_goes_on_for_ever_holds_up_no_other(application: Application) -> None:
    slow, quick, type = await make_action(application, NEVER_ENDING), await make_action(application), new_name()
    trigger = await make_trigger(application, slow, EventType=type, Parameters=[])
    await make_trigger(application, quick, EventType=type)
    await publish(application, event(type))
    assert (await finished_runs(application, quick, 1))[0]["StatusCode"] == 200
    (run,) = await until(lambda: runs_of(application, slow))
    assert run["Finished"] is False
    assert (await application.operator.delete(f"{PATH}/{trigger['Id']}")).status_code == 200


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ({"ActionId": str(uuid4())}, {"ActionId"}),
        ({"EventType": "a\nb", "EventSource": "x" * 5000}, {"EventType", "EventSource"}),
        ({"TriggerType": "web", "Name": ""}, {"TriggerType", "Name"}),
        ({"Parameters": []}, {"Parameters"}),
        ({"Parameters": [{"Name": "name", "JsonPath": "data.name"}]}, {"Parameters[0].JsonPath"}),
        ({"Parameters": [{"Name": "name", "JsonPath": "$.a", "ValueJson": "1"}]}, {"Parameters[0].JsonPath"}),
        ({"Parameters": [{"Name": "name", "ValueJson": "5"}]}, {"Parameters[0].ValueJson"}),
        ({"Parameters": [{"Name": "name", "ValueJson": "Ada"}]}, {"Parameters[0].ValueJson"}),
        ({"Parameters": [*constants(name='"a"'), {"Name": "other", "JsonPath": "$.id"}]}, {"Parameters[1].Name"}),
        ({"Parameters": [*constants(name='"a"'), *constants(name='"b"')]}, {"Parameters[1].Name"}),
        ({"Parameters": [*constants(name='"a"'), {"ValueJson": "1"}]}, {"Parameters[1].Name"}),
        ({"Unknown": 1}, {"Unknown"}),
    ],
)
async def test_what_is_no_trigger_is_refused_field_by_field(
    application: Application, form: dict[str, Any], fields: set[str]
) -> None:
    action = await make_action(application, GREETING)
    body = {"ActionId": action["Id"], "EventType": "t", "Parameters": constants(name='"Ada"'), **form}
    assert fields_of(await application.operator.post(PATH, json=body)) == fields


async def test_names_are_taken_once_without_case(application: Application) -> None:
    action, name = await make_action(application), new_name()
    await make_trigger(application, action, Name=name)
    body = {"ActionId": action["Id"], "Name": name.upper(), "Parameters": constants(name='"Ada"')}
    assert (await application.operator.post(PATH, json=body)).status_code == 409


async def test_a_change_is_whole_or_refused(application: Application) -> None:
    action = await make_action(application)
    trigger = await make_trigger(application, action)
    address = f"{PATH}/{trigger['Id']}"
    saved = await application.operator.put(address, json={**trigger, "EventType": "other"})
    assert (saved.status_code, saved.json()["EventType"]) == (200, "other")
    assert saved.json()["ETag"] != trigger["ETag"]
    assert (await application.operator.put(address, json=trigger)).status_code == 412
    other_id = await application.operator.put(address, json={**saved.json(), "Id": str(uuid4())})
    assert fields_of(other_id) == {"Id"}
    assert (await application.reader.get(address)).json() == saved.json()


async def test_an_action_with_triggers_is_not_deleted(application: Application) -> None:
    action = await make_action(application)
    trigger = await make_trigger(application, action, Name=new_name())
    address = f"/automation/action/{action['Id']}"
    answer = await application.operator.delete(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "in-use")
    assert trigger["Name"] in answer.json()["detail"]
    found = await application.reader.get(f"{PATH}/find", params={"actionId": action["Id"]})
    assert found.json() == [trigger]
    await application.operator.delete(f"{PATH}/{trigger['Id']}")
    assert (await application.operator.delete(address)).status_code == 200


async def test_readers_change_nothing(application: Application) -> None:
    trigger = await make_trigger(application, await make_action(application))
    address = f"{PATH}/{trigger['Id']}"
    assert (await application.reader.put(f"{address}/enabled")).status_code == 403
    assert (await application.reader.delete(address)).status_code == 403
