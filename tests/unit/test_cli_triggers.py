"""Triggers of actions on the command line: what they ran, and what became of their due times."""

from typing import Any

import pytest

from tests.application import Application
from tests.areas.scripts import NOTHING_NEEDED, make_action
from tests.areas.waiting import until
from tests.program import Terminal

pytest_plugins = ("tests.terminals",)


@pytest.fixture
async def schedule(application: Application, name: str) -> dict[str, Any]:
    action = await make_action(application, f"open('made.txt', 'w').write('1')\n{NOTHING_NEEDED}")
    body = {"Name": name, "ActionId": action["Id"], "Frequency": "00:00:01"}
    return dict((await application.operator.post("/automation/triggers/schedule", json=body)).json())


async def test_runs_and_due_times_of_a_trigger_are_shown(
    application: Application, admin: Terminal, schedule: dict[str, Any], name: str
) -> None:
    async def ran() -> bool:
        runs = await admin.run("get", "triggerruns", name)
        return "made.txt" in runs.out and "200" in runs.out

    await until(ran, seconds=40)
    ticks = await admin.run("get", "triggerticks", name)
    assert "fired" in ticks.out
    assert (await application.operator.delete(f"/automation/triggers/schedule/{schedule['Id']}")).status_code == 200


async def test_a_trigger_has_to_be_named(admin: Terminal, name: str) -> None:
    unnamed = await admin.run("get", "triggerruns")
    assert (unnamed.code, "Say of which trigger" in unnamed.err) == (2, True)
    unknown = await admin.run("get", "triggerticks", name)
    assert (unknown.code, "there is no" in unknown.err) == (1, True)
