"""Actions: scripts with parameters that are inferred, run and put on record."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.application import Application, running_application
from tests.areas.resource_suite import Audited, Readable, new_name

CONTENT = "# parameters\ncity: str = 'Bern'\ncount: int = 2\n\n{'city': city, 'count': count}"


async def make(application: Application, content: str = CONTENT) -> dict[str, Any]:
    answer = await application.operator.post("/automation/action", json={"Name": new_name(), "Content": content})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def run(application: Application, action: dict[str, Any], **request: Any) -> httpx.Response:
    return await application.operator.post(f"/automation/action/{action['Id']}/run", json=request)


async def history(application: Application, action: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await application.reader.get(f"/automation/action/{action['Id']}/history")
    return list(answer.raise_for_status().json())


def values(**given: str) -> list[dict[str, str]]:
    return [{"Name": name, "ValueJson": value} for name, value in given.items()]


class TestActions(Readable, Audited):
    path = "/automation/action"

    async def make(self, application: Application, name: str) -> dict[str, Any]:
        answer = await application.admin.post(self.path, json={"Name": name, "Content": CONTENT})
        return dict(answer.raise_for_status().json())


async def test_parameters_and_their_defaults_are_inferred_when_it_is_saved(application: Application) -> None:
    action = await make(application)
    assert action["Parameters"] == [
        {"TypeName": "string", "Name": "city"},
        {"TypeName": "integer", "Name": "count"},
    ]
    assert action["DefaultParameterValues"] == values(city='"Bern"', count="2")
    saved = await application.operator.put(f"/automation/action/{action['Id']}", json="#!value --name x\n1")
    assert saved.json()["Parameters"] == [{"TypeName": "string", "Name": "x"}]
    assert saved.json()["Name"] == action["Name"]


async def test_a_stale_etag_saves_nothing(application: Application) -> None:
    action = await make(application)
    address = f"/automation/action/{action['Id']}"
    stale = await application.operator.put(address, json="1", headers={"If-Match": '"stale"'})
    assert stale.status_code == 412
    assert (await application.reader.get(address)).json() == action


async def test_it_is_found_by_its_name_without_case(application: Application) -> None:
    action = await make(application)
    found = await application.reader.get("/automation/action/find", params={"name": action["Name"].upper()})
    assert found.json() == action
    missing = await application.reader.get("/automation/action/find", params={"name": "nobody"})
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"Name", "Content"}),
        ({"Name": "x" * 129, "Content": "1"}, {"Name"}),
        ({"Name": "a\nb", "Content": "1"}, {"Name"}),
        ({"Name": "binary", "Content": "PK\x03\x04"}, {"Content"}),
        ({"Name": "broken", "Content": "#!meta\nnot json"}, {"Content"}),
    ],
)
async def test_what_is_no_action_is_refused(application: Application, body: dict[str, str], fields: set[str]) -> None:
    answer = await application.operator.post("/automation/action", json=body)
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == fields


async def test_a_taken_name_is_refused(application: Application) -> None:
    action = await make(application)
    again = {"Name": action["Name"].upper(), "Content": "1"}
    assert (await application.operator.post("/automation/action", json=again)).status_code == 409


async def test_a_run_answers_its_result_in_its_media_type(application: Application) -> None:
    action = await make(application)
    answer = await run(application, action, Parameters=values(count="3"))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {"city": "Bern", "count": 3}
    text = await run(application, action, PreferredFormat="text/plain")
    assert (text.headers["content-type"].partition(";")[0], text.text) == (
        "text/plain",
        "{'city': 'Bern', 'count': 2}",
    )


async def test_a_finished_run_is_in_the_history_with_what_it_got(application: Application) -> None:
    action, trigger = await make(application), str(uuid4())
    await run(application, action, Parameters=values(count="3"), TriggerId=trigger, TriggerType="web")
    [entry] = await history(application, action)
    assert entry["ActionId"] == action["Id"]
    assert entry["ActionName"] == action["Name"]
    assert entry["ReceivedParameters"] == values(count="3")
    assert sorted(entry["Parameters"], key=str) == sorted(values(city='"Bern"', count="3"), key=str)
    assert (entry["StatusCode"], entry["Finished"], entry["Error"]) == (200, True, None)
    assert entry["Duration"].startswith("00:")
    assert (entry["TriggerId"], entry["CreatedBy"]) == (trigger, "operator@example.com")


async def test_a_failed_run_answers_its_traceback_and_is_on_record(application: Application) -> None:
    action = await make(application, "def load():\n    raise ValueError('no such city')\nload()")
    answer = await run(application, action)
    assert (answer.status_code, answer.json()["code"]) == (422, "run-failed")
    assert "raise ValueError('no such city')" in answer.json()["detail"]
    [entry] = await history(application, action)
    assert (entry["StatusCode"], entry["Finished"]) == (422, True)
    assert entry["Error"] == answer.json()["detail"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (values(count='"three"'), "Parameters[0].ValueJson"),
        (values(count="three"), "Parameters[0].ValueJson"),
        (values(city='"x"', other="1"), "Parameters[1].ValueJson"),
        ([{"ValueJson": "1"}], "Parameters[0].Name"),
    ],
)
async def test_wrong_parameters_are_refused_before_anything_runs(
    application: Application, given: list[dict[str, str]], field: str
) -> None:
    action = await make(application)
    answer = await run(application, action, Parameters=given)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert await history(application, action) == []


async def test_an_unknown_action_does_not_run(application: Application) -> None:
    assert (await run(application, {"Id": uuid4()})).status_code == 404


async def test_readers_may_look_and_not_run(application: Application) -> None:
    action = await make(application)
    refused = await application.reader.post(f"/automation/action/{action['Id']}/run", json={})
    assert refused.status_code == 403


async def test_a_server_that_stops_ends_its_runs_on_record(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        action = await make(application, "import time; time.sleep(60)")
        lost = asyncio.create_task(run(application, action))
        while not await history(application, action):
            await asyncio.sleep(0.05)
        application.platform.stopping.set()
        assert (await lost).status_code == 503
        [entry] = await history(application, action)
        assert (entry["Finished"], entry["StatusCode"]) == (True, 503)
        assert entry["Error"] == "the server stopped while the run was in progress"
