"""Schedule triggers and notebook schedules: each due time runs its script, or is on the ledger with the reason."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from penstock.areas.triggers.schedule_runs import ScheduleRuns
from penstock.areas.triggers.stored import SCHEDULE_RUNS
from penstock.areas.triggers.timetable import Timetable
from penstock.store.store import Store
from penstock.store.write import Replace
from tests.application import Application
from tests.areas.events import new_name
from tests.areas.resource_suite import Audited, Readable
from tests.areas.scripts import (
    NEVER_ENDING,
    NOTHING_NEEDED,
    Entity,
    constants,
    fields_of,
    make_action,
    make_notebook,
    runs_of,
)
from tests.areas.waiting import until

TRIGGERS = "/automation/triggers/schedule"
SCHEDULES = "/automation/notebook/schedule"
EACH_SECOND = {"CronExpression": "* * * * * *"}
NEVER_SOON = {"CronExpression": "0 0 0 29 2 *"}


async def make_trigger(application: Application, content: str = NOTHING_NEEDED, **form: Any) -> Entity:
    action = await make_action(application, content)
    answer = await application.operator.post(TRIGGERS, json={"ActionId": action["Id"], **form})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def make_schedule(application: Application, **form: Any) -> Entity:
    notebook = await make_notebook(application)
    answer = await application.operator.post(SCHEDULES, json={"NotebookId": notebook["Id"], **form})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def ticks(application: Application, path: str, id: str, outcome: str, count: int = 1) -> list[Entity]:
    """The entries of the ledger with this outcome, newest first, once there are so many."""

    async def there() -> list[Entity]:
        answer = (await application.reader.get(f"{path}/{id}/ticks")).raise_for_status()
        found = [tick for tick in answer.json() if tick["Outcome"] == outcome]
        return found if len(found) >= count else []

    return await until(there, seconds=40)


class TestScheduleTriggers(Readable, Audited):
    path = TRIGGERS

    async def make(self, application: Application, name: str) -> Entity:
        return await make_trigger(application, Name=name, **NEVER_SOON)


class TestNotebookSchedules(Readable, Audited):
    path = SCHEDULES

    async def make(self, application: Application, name: str) -> Entity:
        return await make_schedule(application, Name=name, **NEVER_SOON)


@pytest.mark.parametrize("form", [EACH_SECOND, {"Frequency": "00:00:01"}, {**EACH_SECOND, "Frequency": "1.00:00:00"}])
async def test_each_due_time_runs_the_action_and_is_on_the_ledger(
    application: Application, form: dict[str, str]
) -> None:
    trigger = await make_trigger(application, Parameters=constants(number="4"), **form)
    fired = await ticks(application, TRIGGERS, trigger["Id"], "fired", 2)
    await application.operator.delete(f"{TRIGGERS}/{trigger['Id']}")
    runs = {run["Id"]: run for run in await runs_of(application, {"Id": trigger["ActionId"]})}
    assert {tick["RunId"] for tick in fired} <= runs.keys()
    assert all(run["TriggerId"] == trigger["Id"] for run in runs.values())
    assert all(run["Parameters"] == constants(number="4") for run in runs.values())
    assert len({tick["Due"] for tick in fired}) == len(fired)


async def test_a_notebook_runs_when_it_is_due(application: Application) -> None:
    schedule = await make_schedule(application, Parameters=constants(x='"7"'), **EACH_SECOND)
    found = await application.reader.get(f"{SCHEDULES}/notebook/{schedule['NotebookId']}")
    assert found.json() == [schedule]
    (fired, *_) = await ticks(application, SCHEDULES, schedule["Id"], "fired")
    await application.operator.delete(f"{SCHEDULES}/{schedule['Id']}")
    history = await application.reader.get(f"/automation/notebook/{schedule['NotebookId']}/history")
    run = next(run for run in history.json() if run["Id"] == fired["RunId"])
    assert (run["TriggerType"], run["TriggerId"]) == ("schedule", schedule["Id"])


async def test_what_is_due_while_the_run_before_goes_on_is_skipped(application: Application) -> None:
    trigger = await make_trigger(application, NEVER_ENDING, **EACH_SECOND)
    (skipped, *_) = await ticks(application, TRIGGERS, trigger["Id"], "skipped")
    assert skipped["Reason"] == "the run before it was still in progress"
    assert len(await runs_of(application, {"Id": trigger["ActionId"]})) == 1
    await application.operator.delete(f"{TRIGGERS}/{trigger['Id']}")


async def test_while_it_is_disabled_due_times_are_skipped(application: Application) -> None:
    trigger = await make_trigger(application, IsEnabled=False, **EACH_SECOND)

    async def several() -> Entity | None:
        (tick, *_) = await ticks(application, TRIGGERS, trigger["Id"], "skipped")
        return tick if tick["Count"] >= 2 else None

    tick = await until(several)
    assert tick is not None
    assert tick["Reason"] == "the trigger was disabled"
    assert await runs_of(application, {"Id": trigger["ActionId"]}) == []
    enabled = await application.operator.put(f"{TRIGGERS}/{trigger['Id']}/enabled")
    assert enabled.json()["IsEnabled"] is True
    await ticks(application, TRIGGERS, trigger["Id"], "fired")
    await application.operator.delete(f"{TRIGGERS}/{trigger['Id']}")


async def test_due_times_of_while_the_servers_were_away_are_missed_and_not_made_up_for(
    application: Application,
) -> None:
    trigger = await make_trigger(application, CronExpression="0 * * * * *")
    due = await _pretend_due(application, trigger["Id"], timedelta(hours=-2))
    (missed, *_) = await ticks(application, TRIGGERS, trigger["Id"], "missed")
    await application.operator.delete(f"{TRIGGERS}/{trigger['Id']}")
    assert missed["Reason"] == "no server saw to it in time"
    assert datetime.fromisoformat(missed["Due"]) == due
    assert missed["Count"] in (121, 122)
    assert await runs_of(application, {"Id": trigger["ActionId"]}) == []


async def test_a_due_message_that_got_lost_is_put_again(application: Application) -> None:
    trigger = await make_trigger(application, **NEVER_SOON)
    timetable = application.platform.container.get(Timetable)
    due = await _pretend_due(application, trigger["Id"], timedelta(minutes=-10), put=False)
    await timetable.cancel(UUID(trigger["Id"]))
    await application.platform.container.get(ScheduleRuns).repair()
    (missed,) = await ticks(application, TRIGGERS, trigger["Id"], "missed")
    assert datetime.fromisoformat(missed["Due"]) == due


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ({}, {"CronExpression"}),
        ({"CronExpression": "every day"}, {"CronExpression"}),
        ({"CronExpression": "0 0 0 1 * 1"}, {"CronExpression"}),
        ({"Frequency": "00:00:00.5"}, {"Frequency"}),
        ({"Frequency": "-00:00:05"}, {"Frequency"}),
        ({**EACH_SECOND, "ActionId": str(uuid4())}, {"ActionId"}),
        ({**EACH_SECOND, "Parameters": constants(number='"x"')}, {"Parameters[0].ValueJson"}),
        ({**EACH_SECOND, "Parameters": constants(other="1")}, {"Parameters[0].ValueJson"}),
        ({**EACH_SECOND, "TriggerType": "event", "Name": "\n"}, {"TriggerType", "Name"}),
    ],
)
async def test_what_is_no_schedule_is_refused_field_by_field(
    application: Application, form: dict[str, Any], fields: set[str]
) -> None:
    action = await make_action(application, NOTHING_NEEDED)
    body = {"ActionId": action["Id"], **form}
    assert fields_of(await application.operator.post(TRIGGERS, json=body)) == fields


async def test_notebook_schedules_are_checked_as_well(application: Application) -> None:
    schedule = await make_schedule(application, Name=new_name(), **NEVER_SOON)
    address = f"{SCHEDULES}/{schedule['Id']}"
    wrong = await application.operator.put(
        address, json={**schedule, "NotebookId": str(uuid4()), "CronExpression": "x"}
    )
    assert fields_of(wrong) == {"NotebookId", "CronExpression"}
    saved = await application.operator.put(address, json={**schedule, "CronExpression": None, "Frequency": "PT1H"})
    assert (saved.status_code, saved.json()["Frequency"]) == (200, "01:00:00")
    assert (await application.operator.put(address, json=schedule)).status_code == 412


async def _pretend_due(application: Application, id: str, ago: timedelta, *, put: bool = True) -> datetime:
    """Makes the schedule due at a time that has passed, as if nobody had been there since."""
    store, timetable = application.platform.container.get(Store), application.platform.container.get(Timetable)
    run = await timetable.run(UUID(id))
    assert run is not None
    due = datetime.now().astimezone().replace(second=0, microsecond=0) + ago
    after = msgspec.structs.replace(run, next_due=due)
    await store.commit([Replace(SCHEDULE_RUNS, run.key, run.e_tag or "", after, run.created_date)])
    if put:
        await timetable.put(after)
    return due
