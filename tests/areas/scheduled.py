"""Schedule documents as tests apply them."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.model import Flow
from tests.application import Application

NEVER = "0 0 0 1 1 ?"
"""Once a year: a schedule that is not due while a test runs."""


def schedule(
    name: str,
    cron: str = NEVER,
    command: str = "true",
    args: Sequence[str] = (),
    requirements: Mapping[str, str] | None = None,
    **metadata: Any,
) -> dict[str, Any]:
    return {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Schedule",
        "metadata": {"name": name, **metadata},
        "spec": {"cron": cron, "command": command, "args": list(args), "requirements": dict(requirements or {})},
    }


def removal(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Schedule",
        "metadata": {"name": name, "state": "absent"},
    }


async def apply(application: Application, *documents: dict[str, Any]) -> None:
    answer = await application.apply(*documents)
    assert answer.status_code == 202, answer.text


async def flow(application: Application, name: str) -> dict[str, Any]:
    """The schedule's flow as it is listed."""
    listed = (await application.reader.get("/integrations/flows")).json()
    [found] = [each for each in listed if each["FlowName"] == f"schedule-{name}"]
    return dict(found)


async def request(application: Application, what: str, name: str) -> int:
    """The status of the answer to a start or stop of the schedule's flow."""
    answer = await application.operator.post(f"/integrations/flows/{what}?integrationFlowName=schedule-{name}")
    return answer.status_code


async def stored_flow(application: Application, name: str) -> Flow:
    """The schedule's flow as it is stored."""
    [found] = (await application.platform.container.get(FlowCatalog).stored([f"schedule-{name}"])).values()
    return found
