"""Web triggers and notebook endpoints: requests to their routes run scripts and are answered the result."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.application import Application, running_application
from tests.areas.events import new_name
from tests.areas.resource_suite import Audited, Readable
from tests.areas.scripts import (
    GREETING,
    NEVER_ENDING,
    Entity,
    constants,
    fields_of,
    make_action,
    make_notebook,
    runs_of,
)

WEB = "/automation/triggers/web"
ENDPOINTS = "/automation/notebook/endpoint"
REQUEST = "# parameters\nmethod: str\nbody = None\nnumber: int = 0\ntags: list = []\n\n[method, body, number, tags]"


async def make_trigger(application: Application, content: str = GREETING, **form: Any) -> Entity:
    action = await make_action(application, content)
    body = {"ActionId": action["Id"], "Route": new_name(), "TriggerType": "open", **form}
    answer = await application.operator.post(WEB, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def make_endpoint(application: Application, **form: Any) -> Entity:
    notebook = await make_notebook(application)
    body = {"NotebookId": notebook["Id"], "EndpointId": str(uuid4()), "Route": new_name(), **form}
    answer = await application.operator.post(ENDPOINTS, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def address(trigger: Entity) -> str:
    return f"/web/{trigger['Route']}"


class TestWebTriggers(Readable, Audited):
    path = WEB

    async def make(self, application: Application, name: str) -> Entity:
        return await make_trigger(application, Name=name)


async def test_a_request_is_answered_the_result_in_its_media_type(application: Application) -> None:
    trigger = await make_trigger(application, Parameters=constants(greeting='"Hi"'))
    answer = await application.anonymous.get(address(trigger), params={"name": "Ada", "times": "2", "utm": "x"})
    assert (answer.status_code, answer.json()) == (200, "Hi Ada Hi Ada")
    assert answer.headers["content-type"] == "application/json"
    (run,) = await runs_of(application, {"Id": trigger["ActionId"]})
    assert (run["Id"], run["TriggerId"]) == (answer.headers["penstock-run"], trigger["Id"])
    plain = await application.anonymous.get(address(trigger), params={"name": "Ada"}, headers={"Accept": "text/plain"})
    assert (plain.text, plain.headers["content-type"]) == ("Hi Ada", "text/plain")


@pytest.mark.parametrize(
    ("method", "request_", "expected"),
    [
        ("GET", {"params": {"number": "5", "tags": ["a", "2"]}}, ["GET", None, 5, ["a", 2]]),
        ("POST", {"json": {"number": 6, "tags": ["x"]}}, ["POST", {"number": 6, "tags": ["x"]}, 6, ["x"]]),
        ("POST", {"json": {"number": 6}, "params": {"number": "7"}}, ["POST", {"number": 6}, 6, []]),
        ("PUT", {"content": b"some text", "headers": {"Content-Type": "text/plain"}}, ["PUT", "some text", 0, []]),
        ("PATCH", {"content": b"\xff\x00"}, ["PATCH", "/wA=", 0, []]),
        ("DELETE", {"data": {"number": "8"}}, ["DELETE", "number=8", 8, []]),
        ("POST", {"json": [1, 2]}, ["POST", [1, 2], 0, []]),
    ],
)
async def test_method_query_and_body_become_parameters(
    application: Application, method: str, request_: dict[str, Any], expected: list[Any]
) -> None:
    trigger = await make_trigger(application, REQUEST)
    answer = await application.anonymous.request(method, address(trigger), **request_)
    assert answer.json() == expected


async def test_wrong_values_are_refused_by_name_before_anything_runs(application: Application) -> None:
    trigger = await make_trigger(application)
    wrong = await application.anonymous.post(address(trigger), json={"name": 5, "times": "many"})
    assert fields_of(wrong) == {"name", "times"}
    missing = await application.anonymous.post(address(trigger))
    assert (missing.status_code, "name" in missing.text) == (400, True)
    assert await runs_of(application, {"Id": trigger["ActionId"]}) == []


async def test_a_request_has_no_say_in_what_the_trigger_fixes(application: Application) -> None:
    trigger = await make_trigger(application, Parameters=constants(name='"Ada"'))
    assert (await application.anonymous.get(address(trigger), params={"name": "Eve"})).json() == "Hello Ada"


async def test_without_its_secret_nobody_may_call(application: Application) -> None:
    trigger = await make_trigger(application, TriggerType=None)
    assert trigger["TriggerType"] == "secret"
    call = {"name": "Ada"}
    access = f"{WEB}/{trigger['Id']}/access"
    assert (await application.anonymous.get(address(trigger), params=call)).status_code == 401
    first = (await application.operator.put(access, json={})).json()["Secret"]
    secret = (await application.operator.put(access, json={"Access": "secret"})).json()["Secret"]
    for headers, status in (
        ({}, 401),
        ({"X-Trigger-Secret": first}, 401),
        ({"X-Trigger-Secret": secret}, 200),
        ({"Authorization": f"Bearer {secret}"}, 200),
    ):
        answer = await application.anonymous.get(address(trigger), params=call, headers=headers)
        assert answer.status_code == status
    told = [(await application.admin.get(f"{WEB}/{trigger['Id']}")).text]
    told.append((await application.admin.get("/entityEventstore", params={"id": trigger["Id"]})).text)
    assert not any(secret in text or "SecretHash" in text for text in told)


async def test_opened_to_everybody_it_needs_none(application: Application) -> None:
    trigger = await make_trigger(application, TriggerType="secret")
    answer = await application.operator.put(f"{WEB}/{trigger['Id']}/access", json={"Access": "open"})
    assert answer.json() == {"Access": "open", "Secret": None}
    assert (await application.anonymous.get(address(trigger), params={"name": "Ada"})).status_code == 200


async def test_where_nothing_serves_is_nothing_found(application: Application) -> None:
    trigger = await make_trigger(application)
    assert (await application.anonymous.get(f"/web/{new_name()}")).status_code == 404
    await application.operator.put(f"{WEB}/{trigger['Id']}/enabled")
    assert (await application.anonymous.get(address(trigger))).status_code == 404
    await application.operator.put(f"{WEB}/{trigger['Id']}/enabled")
    assert (await application.anonymous.get(address(trigger))).status_code == 400
    await application.operator.delete(f"{WEB}/{trigger['Id']}")
    assert (await application.anonymous.get(address(trigger))).status_code == 404


async def test_a_route_is_taken_once_by_whatever_serves_it(application: Application) -> None:
    trigger, endpoint = await make_trigger(application), await make_endpoint(application)
    notebook, action = endpoint["NotebookId"], trigger["ActionId"]
    taken = [
        await application.operator.post(WEB, json={"ActionId": action, "Route": trigger["Route"].upper()}),
        await application.operator.post(WEB, json={"ActionId": action, "Route": endpoint["Route"]}),
        await application.operator.post(ENDPOINTS, json={"NotebookId": notebook, "Route": f"/{trigger['Route']}"}),
        await application.operator.put(f"{WEB}/{trigger['Id']}", json={**trigger, "Route": endpoint["Route"]}),
    ]
    assert [answer.status_code for answer in taken] == [409, 409, 409, 409]
    assert "notebook endpoint" in taken[1].json()["detail"]
    moved = await application.operator.put(f"{WEB}/{trigger['Id']}", json={**trigger, "Route": new_name()})
    assert moved.status_code == 200
    again = await application.operator.post(WEB, json={"ActionId": action, "Route": trigger["Route"]})
    assert again.status_code == 200


@pytest.mark.parametrize("route", [None, "", "/", "a/b", "a b", "ü", "x" * 129, "../etc", "{name}"])
async def test_a_route_is_one_segment_of_a_path(application: Application, route: str | None) -> None:
    action = await make_action(application)
    answer = await application.operator.post(WEB, json={"ActionId": action["Id"], "Route": route})
    assert fields_of(answer) == {"Route"}


async def test_code_that_fails_is_not_shown_to_callers(application: Application) -> None:
    trigger = await make_trigger(application, "raise ValueError('inner workings')")
    answer = await application.anonymous.get(address(trigger))
    assert (answer.status_code, answer.json()["code"]) == (422, "run-failed")
    (run,) = await runs_of(application, {"Id": trigger["ActionId"]})
    assert "inner workings" not in answer.text
    assert run["Id"] in answer.text
    assert "inner workings" in run["Error"]


async def test_a_body_that_is_too_large_is_refused(application: Application) -> None:
    trigger = await make_trigger(application)
    answer = await application.anonymous.post(address(trigger), content=b"x" * (1 << 20) + b"y")
    assert answer.status_code == 413


async def test_what_takes_too_long_goes_on_under_the_id_that_is_told(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_WEB_TRIGGER_SECONDS="0.2") as application:
        trigger = await make_trigger(application, NEVER_ENDING)
        answer = await application.anonymous.get(address(trigger))
        assert (answer.status_code, answer.json()["code"]) == (504, "overdue")
        (run,) = await runs_of(application, {"Id": trigger["ActionId"]})
        assert run["Id"] in answer.json()["detail"]
        assert run["Finished"] is False
        more = await asyncio.gather(*(application.anonymous.get(address(trigger)) for _ in range(33)))
        assert sorted(answer.status_code for answer in more) == [429, 429, *[504] * 31]


async def test_a_page_that_a_script_makes_is_no_page_of_the_console(application: Application) -> None:
    html = "from IPython.display import HTML\nHTML('<script>1</script>')"
    trigger = await make_trigger(application, html)
    answer = await application.anonymous.get(address(trigger), headers={"Accept": "text/html"})
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("sandbox")


async def test_a_notebook_endpoint_serves_its_notebook(application: Application) -> None:
    endpoint = await make_endpoint(application)
    assert endpoint["EndpointId"] == endpoint["Id"]
    assert (await application.anonymous.get(address(endpoint))).status_code == 401
    made = await application.operator.put(f"{ENDPOINTS}/{endpoint['Id']}/access", json={})
    secret = {"X-Trigger-Secret": made.json()["Secret"]}
    answer = await application.anonymous.get(address(endpoint), params={"x": "9"}, headers=secret)
    assert (answer.status_code, answer.json()) == (200, "9")
    history = await application.reader.get(f"/automation/notebook/{endpoint['NotebookId']}/history")
    assert [run["TriggerType"] for run in history.json()] == ["web"]


async def test_endpoints_are_found_by_their_notebook_and_by_their_id(application: Application) -> None:
    endpoint = await make_endpoint(application)
    for id in (endpoint["Id"], endpoint["NotebookId"]):
        assert (await application.reader.get(f"{ENDPOINTS}/{id}")).json() == [endpoint]
    assert (await application.reader.get(f"{ENDPOINTS}/{uuid4()}")).status_code == 404
    assert endpoint in (await application.reader.get(ENDPOINTS)).json()
    saved: httpx.Response = await application.operator.put(
        f"{ENDPOINTS}/{endpoint['Id']}", json={**endpoint, "Route": new_name()}
    )
    assert saved.status_code == 200
    in_use = await application.operator.delete(f"/automation/notebook/{endpoint['NotebookId']}")
    assert (in_use.status_code, "notebook endpoint" in in_use.text) == (409, True)
    assert (await application.operator.delete(f"{ENDPOINTS}/{endpoint['Id']}")).status_code == 200
    assert (await application.reader.get(f"{ENDPOINTS}/{endpoint['NotebookId']}")).json() == []


async def test_everything_that_runs_scripts_is_in_one_list(application: Application) -> None:
    trigger, endpoint = await make_trigger(application, Name=new_name()), await make_endpoint(application)
    listed = {each["Id"]: each for each in (await application.reader.get("/automation/triggers")).json()}
    assert listed[trigger["Id"]] == {
        "Id": trigger["Id"],
        "Name": trigger["Name"],
        "Kind": "web",
        "When": f"{address(trigger)} (open)",
        "ScriptId": trigger["ActionId"],
        "ScriptName": trigger["ActionName"],
        "IsEnabled": True,
    }
    assert listed[endpoint["Id"]]["Kind"] == "notebook-endpoint"
    notebook = (await application.reader.get(f"/automation/notebook/{endpoint['NotebookId']}")).json()
    assert listed[endpoint["Id"]]["ScriptName"] == notebook["FileName"]
