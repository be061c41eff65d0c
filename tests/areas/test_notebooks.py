"""Notebooks: kept byte for byte, analyzed, run with parameters."""

from pathlib import Path
from typing import Any

import pytest

from tests.application import Application
from tests.areas.resource_suite import Audited, Readable, new_name
from tests.unit.test_documents import SAMPLES, sample


async def make(application: Application, name: str, content: str) -> dict[str, Any]:
    body = {"FileName": f"{new_name()}-{name}", "Content": content}
    answer = await application.operator.post("/automation/notebook", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


class TestNotebooks(Readable, Audited):
    path = "/automation/notebook"

    async def make(self, application: Application, name: str) -> dict[str, Any]:
        return await make(application, f"{name}.dib", sample("weather.dib"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
async def test_a_notebook_is_kept_byte_for_byte(application: Application, path: Path) -> None:
    notebook = await make(application, path.name, path.read_bytes().decode())
    read = await application.reader.get(f"/automation/notebook/{notebook['Id']}")
    assert read.json()["Content"].encode() == path.read_bytes()
    analysis = await application.reader.get(f"/automation/notebook/{notebook['Id']}/analyze")
    assert analysis.json()["OriginalDocument"].encode() == path.read_bytes()


async def test_it_tells_its_parameters_and_what_it_answers(application: Application) -> None:
    notebook = await make(application, "weather.dib", sample("weather.dib"))
    analysis = (await application.reader.get(f"/automation/notebook/{notebook['Id']}/analyze")).json()
    assert analysis["ReturnTypeName"] == "object"
    assert analysis["ParameterNamesAndTypeNames"] == [
        {"TypeName": "string", "Name": "city"},
        {"TypeName": "array", "Name": "readings"},
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "result"),
    [
        ("weather.dib", {"readings": "[1]"}, {"city": "Bern", "mean": 1.0}),
        ("sales.ipynb", {"year": "1"}, {"north": 1, "south": 2}),
        ("report.py", {"label": '"few"'}, {"label": "few", "above": [0.7, 0.9]}),
    ],
)
async def test_it_runs_with_parameters_and_is_on_record(
    application: Application, name: str, parameters: dict[str, str], result: dict[str, Any]
) -> None:
    notebook = await make(application, name, sample(name))
    given = [{"Name": key, "ValueJson": value} for key, value in parameters.items()]
    request = {"Parameters": given, "TriggerType": "schedule", "TriggerId": "nightly"}
    answer = await application.operator.post(f"/automation/notebook/{notebook['Id']}/run", json=request)
    assert (answer.status_code, answer.json()) == (200, result)
    [entry] = (await application.reader.get(f"/automation/notebook/{notebook['Id']}/history")).json()
    assert (entry["Finished"], entry["StatusCode"], entry["TriggerId"]) == (True, 200, "nightly")


async def test_saving_replaces_the_content_and_refuses_what_is_no_document(application: Application) -> None:
    notebook = await make(application, "sales.ipynb", sample("sales.ipynb"))
    address = f"/automation/notebook/{notebook['Id']}"
    assert (await application.operator.put(address, json="{}")).status_code == 400
    assert (await application.reader.get(address)).json() == notebook
    changed = sample("sales.ipynb").replace("2024", "2025")
    assert (await application.operator.put(address, json=changed)).json()["Content"] == changed


async def test_a_question_without_an_answer_is_refused_before_anything_runs(application: Application) -> None:
    notebook = await make(application, "asks.dib", sample("asks.dib"))
    answer = await application.operator.post(f"/automation/notebook/{notebook['Id']}/run", json={})
    assert answer.status_code == 400
    assert "user, token" in answer.json()["detail"]
