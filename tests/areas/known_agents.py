"""Agents as callers see them."""

from typing import Any

from tests.application import Application


async def agent(application: Application, id: object) -> dict[str, Any]:
    answer = await application.reader.get(f"/agents/{id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def status_of(application: Application, id: object) -> int:
    return int((await agent(application, id))["CurrentStatusEnum"])


async def events_of(application: Application, id: object) -> list[str]:
    query = {"entityId": str(id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    answer = await application.admin.get("/events/store", params=query)
    assert answer.status_code == 200, answer.text
    return [item["EventType"] for item in answer.json()]


async def has_status(application: Application, id: object, status: int) -> bool:
    return await status_of(application, id) == status


async def agent_with(application: Application, id: object, **fields: Any) -> dict[str, Any] | None:
    found = await agent(application, id)
    return found if all(found[name] == value for name, value in fields.items()) else None
