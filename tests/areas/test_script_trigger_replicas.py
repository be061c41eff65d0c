"""Triggers of actions on several replicas: each event and due time runs its action once, whoever dies or is slow."""

from pathlib import Path
from typing import Any

from tests.application import Application, running_application
from tests.areas.cluster import Cluster, cluster
from tests.areas.events import event, new_name, publish
from tests.areas.scripts import (
    NEVER_ENDING,
    NOTHING_NEEDED,
    Entity,
    constants,
    finished_runs,
    make_action,
    runs_of,
)
from tests.areas.waiting import until

__all__ = ["cluster"]

SLOW = "# parameters\nname: str\n\nimport time\ntime.sleep(6)\nname"


async def test_what_a_killed_server_was_running_is_run_by_another_and_on_record_once(cluster: Cluster) -> None:
    type = new_name()
    async with cluster.process() as (process, first):
        action = await make_action(first, SLOW)
        parameters = [{"Name": "name", "JsonPath": "$.id"}]
        body = {"ActionId": action["Id"], "EventType": type, "Parameters": parameters}
        trigger = await first.operator.post("/automation/triggers/event", json=body)
        assert trigger.status_code == 200, trigger.text
        events = [event(type) for _ in range(3)]
        await publish(first, *events)
        await until(lambda: _running(first, action, 3), seconds=40)
        async with cluster.replica("2") as second:
            process.kill()
            await process.wait()
            runs = await until(lambda: _succeeded(second, action, 3), seconds=90)
            assert {run["ReceivedParameters"][0]["ValueJson"] for run in runs} == {f'"{each["id"]}"' for each in events}


async def test_a_trigger_whose_runs_never_end_leaves_places_to_others(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        slow, quick = await make_action(application, NEVER_ENDING), await make_action(application, NOTHING_NEEDED)
        types = new_name(), new_name()
        for action, type in zip((slow, quick), types, strict=True):
            body = {"ActionId": action["Id"], "EventType": type}
            assert (await application.operator.post("/automation/triggers/event", json=body)).status_code == 200
        await publish(application, *(event(types[0]) for _ in range(150)))
        await until(lambda: _running(application, slow, 32), seconds=40)
        await publish(application, event(types[1]), event(types[1]))
        runs = await finished_runs(application, quick, 2)
        assert [run["StatusCode"] for run in runs] == [200, 200]
        assert not any(run["Finished"] for run in await runs_of(application, slow))


async def test_each_due_time_is_taken_once_and_the_rest_go_on_when_a_server_is_killed(cluster: Cluster) -> None:
    async with cluster.replica("2") as second:
        async with cluster.process() as (process, first):
            action = await make_action(first, NOTHING_NEEDED)
            body = {"ActionId": action["Id"], "Frequency": "00:00:01", "Parameters": constants(number="1")}
            trigger = (await first.operator.post("/automation/triggers/schedule", json=body)).json()
            before = await until(lambda: _fired(second, trigger, 2))
            process.kill()
            await process.wait()
        after = await until(lambda: _fired(second, trigger, len(before) + 2), seconds=40)
        await second.operator.delete(f"/automation/triggers/schedule/{trigger['Id']}")
        runs = {run["Id"] for run in await runs_of(second, action)}
        assert {tick["RunId"] for tick in after} <= runs
        assert len({tick["Due"] for tick in after}) == len(after)


async def _running(application: Any, action: Entity, count: int) -> bool:
    runs = await runs_of(application, action)
    return len(runs) == count and not any(run["Finished"] for run in runs)


async def _succeeded(application: Application, action: Entity, count: int) -> list[Entity]:
    """The history once that many runs have succeeded; until then they may be on record as cut off."""
    runs = await runs_of(application, action)
    assert len(runs) == count
    return runs if all(run["StatusCode"] == 200 for run in runs) else []


async def _fired(application: Application, trigger: Entity, count: int) -> list[Entity]:
    answer = await application.reader.get(f"/automation/triggers/schedule/{trigger['Id']}/ticks")
    found = [tick for tick in answer.json() if tick["Outcome"] == "fired"] if answer.status_code == 200 else []
    return found if len(found) >= count else []
