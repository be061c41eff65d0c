"""Triggers of actions on several replicas: each event and due time runs its action once, whoever dies."""

from typing import Any

from tests.application import Application
from tests.areas.cluster import Cluster, cluster
from tests.areas.events import event, new_name, publish
from tests.areas.scripts import NOTHING_NEEDED, Entity, constants, make_action, runs_of
from tests.areas.waiting import until

__all__ = ["cluster"]

SLOW = "# parameters\nname: str\n\nimport time\ntime.sleep(3)\nname"


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
        await until(lambda: _running(first, action, 3))
        async with cluster.replica("2") as second:
            process.kill()
            await process.wait()
            runs = await until(lambda: _succeeded(second, action, 3), seconds=60)
            assert {run["ReceivedParameters"][0]["ValueJson"] for run in runs} == {f'"{each["id"]}"' for each in events}


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
