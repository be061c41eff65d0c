"""Flows as operators save them in tests."""

from typing import Any

import httpx

from tests.application import Application

SPEC = "- from: {uri: 'timer:tick', parameters: {period: 60000}, steps: [{log: hello}]}"


def flow_of(name: str, spec: str = SPEC, **fields: Any) -> dict[str, Any]:
    """The body of a save, for agents of the environment `name`."""
    return {"Name": name, "FlowSpec": spec, "Requirements": [{"Identifier": "Environment", "Value": name}], **fields}


async def save(application: Application, body: dict[str, Any], **headers: str) -> httpx.Response:
    return await application.operator.put("/integrations/flows", json=body, headers=headers)


async def saved(application: Application, body: dict[str, Any]) -> httpx.Response:
    """Saves; the answer."""
    answer = await save(application, body)
    assert answer.status_code == 201, answer.text
    return answer


async def read(application: Application, name: str) -> dict[str, Any]:
    answer = await application.reader.get(f"/integrations/flows/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def errors(application: Application, body: dict[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with a save, by field; nothing of it is kept."""
    answer = await save(application, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid"), answer.text
    return [(error["field"], error["message"]) for error in answer.json()["errors"]]
