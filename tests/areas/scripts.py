"""Actions, notebooks and their runs as tests of triggers make them."""

from typing import Any

import httpx

from tests.application import Application
from tests.areas.events import new_name
from tests.areas.waiting import until

GREETING = "# parameters\ngreeting: str = 'Hello'\nname: str\ntimes: int = 1\n\n' '.join([greeting, name] * times)"
NOTHING_NEEDED = "# parameters\nnumber: int = 7\n\nnumber * 2"
NEVER_ENDING = "import time\nwhile True:\n    time.sleep(0.1)"

Entity = dict[str, Any]


async def make_action(application: Application, content: str = GREETING) -> Entity:
    answer = await application.operator.post("/automation/action", json={"Name": new_name(), "Content": content})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def make_notebook(application: Application, content: str = "#!value --name x\n5\n\n#!python\nx") -> Entity:
    body = {"FileName": f"{new_name()}.dib", "Content": content}
    answer = await application.operator.post("/automation/notebook", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def runs_of(application: Application, action: Entity) -> list[Entity]:
    """The history of an action, newest first."""
    answer = await application.reader.get(f"/automation/action/{action['Id']}/history")
    return list(answer.raise_for_status().json())


async def finished_runs(application: Application, action: Entity, count: int) -> list[Entity]:
    """The history once it has so many runs, all finished."""

    async def there() -> list[Entity]:
        found = await runs_of(application, action)
        return found if len(found) >= count and all(run["Finished"] for run in found) else []

    return await until(there, seconds=40)


def constants(**given: str) -> list[dict[str, str]]:
    """Parameters from their values in JSON."""
    return [{"Name": name, "ValueJson": value} for name, value in given.items()]


def fields_of(answer: httpx.Response) -> set[str]:
    """The fields that a refusal names."""
    assert answer.status_code == 400, answer.text
    return {error["field"] for error in answer.json()["errors"]}
