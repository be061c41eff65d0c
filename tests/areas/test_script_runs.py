"""Runs of actions and notebooks on record, whatever made them happen, and the files that they made."""

from uuid import uuid4

import pytest

from tests.application import Application
from tests.areas.events import new_name
from tests.areas.scripts import NOTHING_NEEDED, Entity, constants, make_action, make_notebook
from tests.areas.waiting import until

WRITES = "import pathlib\npathlib.Path('out').mkdir()\nopen('out/rows.csv', 'w').write('1,2')\n'written'"


async def record(application: Application, run: str) -> Entity:
    return dict((await application.reader.get(f"/automation/runs/{run}")).raise_for_status().json())


@pytest.mark.parametrize("kind", ["action", "notebook"])
async def test_the_record_of_a_run_names_its_files_which_every_operator_can_fetch(
    application: Application, kind: str
) -> None:
    make = make_action if kind == "action" else make_notebook
    script = await make(application, WRITES)
    answer = await application.admin.post(f"/automation/{kind}/{script['Id']}/run", json={})
    assert answer.json() == "written"
    run = await record(application, answer.headers["penstock-run"])
    assert (run["ScriptId"], run["StatusCode"], run["TriggerId"]) == (script["Id"], 200, None)
    [file] = run["Files"]
    assert (file["FileName"], file["MediaType"], file["Size"]) == ("out/rows.csv", "text/csv", 3)
    fetched = await application.operator.get("/interactive/engine/file", params={"id": file["Id"]})
    assert (fetched.text, fetched.headers["content-type"]) == ("1,2", "text/csv")
    assert (await application.reader.get("/interactive/engine/file", params={"id": file["Id"]})).status_code == 403


async def test_files_that_code_left_before_it_failed_are_kept_too(application: Application) -> None:
    action = await make_action(application, f"{WRITES}\n1/0")
    assert (await application.operator.post(f"/automation/action/{action['Id']}/run", json={})).status_code == 422
    [run] = (await application.reader.get("/automation/runs", params={"scriptId": action["Id"]})).json()
    assert (run["StatusCode"], [file["FileName"] for file in run["Files"]]) == (422, ["out/rows.csv"])


async def test_runs_are_listed_by_what_made_them_happen(application: Application) -> None:
    notebook = await make_notebook(application)
    body = {"NotebookId": notebook["Id"], "Frequency": "00:00:01", "Name": new_name()}
    schedule = (await application.operator.post("/automation/notebook/schedule", json=body)).json()
    await application.operator.post(f"/automation/notebook/{notebook['Id']}/run", json={})

    async def fired() -> list[Entity]:
        answer = await application.reader.get("/automation/runs", params={"triggerId": schedule["Id"]})
        return [run for run in answer.json() if run["Finished"]]

    runs = await until(fired)
    assert {(run["TriggerType"], run["ScriptId"]) for run in runs} == {("schedule", notebook["Id"])}
    ticks = (await application.reader.get("/automation/ticks", params={"scheduleId": schedule["Id"]})).json()
    assert {run["Id"] for run in runs} <= {tick["RunId"] for tick in ticks}
    every = (await application.reader.get("/automation/runs", params={"scriptId": notebook["Id"]})).json()
    assert {None, "schedule"} == {run["TriggerType"] for run in every}
    await application.operator.delete(f"/automation/notebook/schedule/{schedule['Id']}")


async def test_what_is_not_there_is_not_found(application: Application) -> None:
    assert (await application.reader.get(f"/automation/runs/{uuid4()}")).status_code == 404
    assert (await application.reader.get(f"/automation/ticks?scheduleId={uuid4()}")).status_code == 404
    assert (await application.reader.get(f"/automation/runs?triggerId={uuid4()}")).json() == []


async def test_dates_and_numbers_that_a_document_asks_for_are_checked_before_anything_runs(
    application: Application,
) -> None:
    document = '#!python\n#!set --name day --value @input:{"type": "date"}\nday[:4]'
    notebook = await make_notebook(application, document)
    address = f"/automation/notebook/{notebook['Id']}/run"
    refused = await application.operator.post(address, json={"Parameters": constants(day='"31.3.2026"')})
    assert refused.status_code == 400
    assert refused.json()["errors"][0] == {
        "field": "Parameters[0].ValueJson",
        "message": "'day' must be of type date, like 2026-03-31",
    }
    assert (await application.reader.get(f"/automation/notebook/{notebook['Id']}/history")).json() == []
    answer = await application.operator.post(address, json={"Parameters": constants(day='"2026-03-31"')})
    assert answer.json() == "2026"


async def test_a_route_of_several_segments_is_refused_with_one_that_would_do(application: Application) -> None:
    action = await make_action(application, NOTHING_NEEDED)
    body = {"ActionId": action["Id"], "Route": "/sales/orders"}
    answer = await application.operator.post("/automation/triggers/web", json=body)
    assert answer.json()["errors"] == [
        {"field": "Route", "message": "is one segment below /web/, without a slash, such as sales-orders"}
    ]
