"""The interactive engine over HTTP: code, suggestions, documents, files, output while it comes."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.application import Application
from tests.unit.test_documents import sample

ERROR = "application/vnd.code.notebook.error"
FILE = "application/vnd.penstock.file+json"


@pytest.fixture
def notebook() -> str:
    return str(uuid4())


async def run(application: Application, notebook: str, code: str, **more: Any) -> list[dict[str, Any]]:
    body = {"NotebookId": notebook, "Code": code, **more}
    answer = await application.operator.post("/interactive/engine/run", json=body)
    assert answer.status_code == 200, answer.text
    return list(answer.json())


async def execute(application: Application, **request: Any) -> httpx.Response:
    return await application.operator.post("/interactive/engine/execute", json=request)


async def test_each_output_is_a_result_in_all_its_forms(application: Application, notebook: str) -> None:
    printed, result = await run(application, notebook, "print('hello')\n{'a': 1}")
    assert (printed["OutputType"], printed["OutputString"]) == ("text/plain", "hello\n")
    assert (result["Output"], result["OutputType"], result["OutputJson"]) == ({"a": 1}, "application/json", '{"a":1}')
    assert result["DisplayString"] == "{'a': 1}"
    assert {form["Type"] for form in result["FormattedResults"]} == {"text/plain", "application/json"}
    assert result["Duration"].startswith("00:00:")


async def test_the_preferred_format_chooses_the_output_string(application: Application, notebook: str) -> None:
    [result] = await run(application, notebook, "'é'", PreferredFormat="text/plain")
    assert (result["OutputType"], result["OutputString"], result["OutputJson"]) == ("text/plain", "é", '"é"')


async def test_a_notebook_keeps_its_kernel_until_a_fresh_one_is_asked_for(
    application: Application, notebook: str
) -> None:
    await run(application, notebook, "n = 41")
    assert (await run(application, notebook, "n + 1"))[0]["Output"] == 42
    [lost] = await run(application, notebook, "n", FreshKernel=True)
    assert (lost["OutputType"], lost["Output"]["name"]) == (ERROR, "NameError")


async def test_a_prefix_chooses_the_kernel(application: Application, notebook: str) -> None:
    [shown] = await run(application, notebook, "<b>x</b>", CommandPrefix="#!html")
    assert (shown["OutputType"], shown["Output"]) == ("text/html", "<b>x</b>")
    [refused] = await run(application, notebook, "1", KernelType="csharp")
    assert "'csharp' is not installed" in refused["OutputString"]


async def test_a_file_can_be_fetched_by_who_made_it_alone(application: Application, notebook: str) -> None:
    outputs = await run(application, notebook, "open('sales é.csv', 'w').write('1,2')")
    file = next(output for output in outputs if output["OutputType"] == FILE)["Output"]
    address = {"id": file["Id"]}
    fetched = await application.operator.get("/interactive/engine/file", params=address)
    assert (fetched.text, fetched.headers["content-type"].partition(";")[0]) == ("1,2", "text/csv")
    assert "sales" in fetched.headers["content-disposition"]
    other = await application.admin.post("/identity/user", json={"Email": f"{uuid4()}@x.org", "Roles": "Operator"})
    stranger = await application.client_for(other.json()["Username"], other.json()["Password"])
    assert (await stranger.get("/interactive/engine/file", params=address)).status_code == 404
    assert (await application.admin.get("/interactive/engine/file", params=address)).text == "1,2"
    await stranger.aclose()


@pytest.mark.parametrize("id", ["x", "0" * 32, "../../etc", "*"])
async def test_an_unknown_file_is_not_found(application: Application, id: str) -> None:
    assert (await application.operator.get("/interactive/engine/file", params={"id": id})).status_code == 404


async def test_suggestions_have_monacos_kinds(application: Application, notebook: str) -> None:
    await run(application, notebook, "def greeting():\n    'Says hello.'")
    body = {"NotebookId": notebook, "Code": "# é🎉\ngreet", "LineNumber": 2, "Column": 6}
    await application.operator.post("/interactive/engine/suggestions", json=body)
    [found] = (await application.operator.post("/interactive/engine/suggestions", json=body)).json()
    assert (found["Label"], found["InsertText"], found["Kind"]) == ("greeting", "greeting", 1)
    assert "Says hello." in found["Documentation"]


@pytest.mark.parametrize(("line", "column"), [(0, 1), (2, 1), (1, 5), (1, 0), (-1, -1)])
async def test_a_place_outside_the_code_is_refused(
    application: Application, notebook: str, line: int, column: int
) -> None:
    body = {"NotebookId": notebook, "Code": "abc", "LineNumber": line, "Column": column}
    assert (await application.operator.post("/interactive/engine/suggestions", json=body)).status_code == 400


async def test_output_is_streamed_while_the_code_runs(application: Application, notebook: str) -> None:
    code = "import time\nprint('first', flush=True); time.sleep(0.5); print('second')\n1/0"
    body = {"NotebookId": notebook, "Code": code}
    events: list[tuple[str, Any]] = []
    async with application.operator.stream("POST", "/interactive/engine/run/stream", json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in answer.aiter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                events.append((name, json.loads(value)))
    assert [event["Output"] for name, event in events[:2]] == ["first\n", "second\n"]
    assert events[-1][0] == "end"
    assert events[-1][1]["Error"] == "ZeroDivisionError: division by zero"


async def test_the_answer_of_a_document_names_the_files_that_it_made(application: Application) -> None:
    answer = await execute(application, Dib="open('sales é.csv', 'w').write('1,2')")
    id, _, name = answer.headers["penstock-file"].partition("; ")
    assert name == "name*=UTF-8''sales%20%C3%A9.csv"
    assert (await application.operator.get("/interactive/engine/file", params={"id": id})).text == "1,2"


async def test_a_document_runs_with_parameters(application: Application) -> None:
    given = [{"Name": "city", "TypeName": "System.String", "ValueJson": '"Zug"'}]
    answer = await execute(application, Dib=sample("weather.dib"), Parameters=given, OneTimeKernel=True)
    assert (answer.status_code, answer.json()["city"]) == (200, "Zug")
    failed = await execute(application, Dib="1/0")
    assert (failed.status_code, failed.json()["code"]) == (422, "run-failed")


async def test_a_session_keeps_its_kernels_unless_they_are_for_one_time(application: Application) -> None:
    session = str(uuid4())
    await execute(application, Dib="n = 1", SessionId=session)
    assert (await execute(application, Dib="n", SessionId=session)).text == "1"
    assert (await execute(application, Dib="n", SessionId=session, OneTimeKernel=True)).status_code == 422


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({}, "Dib"),
        ({"Dib": "PK\x03\x04"}, "Dib"),
        ({"Dib": "1", "Parameters": [{"ValueJson": "1"}]}, "Parameters[0].Name"),
        ({"Dib": "1", "Parameters": [{"Name": "x", "ValueJson": "1"}]}, "Parameters[0].ValueJson"),
        ({"Dib": "1", "SessionId": "x" * 201}, "SessionId"),
    ],
)
async def test_a_document_that_cannot_run_is_refused(
    application: Application, request_: dict[str, Any], field: str
) -> None:
    answer = await execute(application, **request_)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_a_document_is_analyzed_without_running(application: Application) -> None:
    answer = await application.reader.post("/interactive/document/analyze", json=sample("asks.dib"))
    assert answer.json()["ParameterNamesAndTypeNames"] == [
        {"TypeName": "string", "Name": "user"},
        {"TypeName": "string", "Name": "token"},
    ]
    assert (await application.reader.post("/interactive/document/analyze", json="\x00")).status_code == 400


async def test_the_policy_report_tells_how_code_is_kept_apart(application: Application, notebook: str) -> None:
    await run(application, notebook, "1")
    report = (await application.reader.get("/debug/systeminfo/policyreport")).json()
    assert "## Code that users run\n\n- Scripts and notebooks on" in report


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/interactive/engine/run"),
        ("POST", "/interactive/engine/run/stream"),
        ("POST", "/interactive/engine/suggestions"),
        ("POST", "/interactive/engine/execute"),
        ("GET", "/interactive/engine/file?id=x"),
    ],
)
async def test_readers_run_nothing(application: Application, method: str, path: str) -> None:
    body = None if method == "GET" else {"NotebookId": str(uuid4()), "LineNumber": 1, "Column": 1}
    answer = await application.reader.request(method, path, json=body)
    assert answer.status_code == 403
