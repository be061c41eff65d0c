"""Schedule documents as tests apply them."""

from collections.abc import Mapping, Sequence
from typing import Any

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
