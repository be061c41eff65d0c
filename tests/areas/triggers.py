"""Triggers as tests make them."""

from datetime import datetime
from typing import Any

import httpx
import msgspec

from tests.application import Application
from tests.areas.waiting import until

SOON = "00:00:01"


async def make_trigger(
    application: Application, kind: str, channel: str | None = None, id: str | None = None, **configuration: Any
) -> str:
    """A trigger that is due each second; its id."""
    answer = await post_trigger(application, kind, channel, id, Frequency=SOON, **configuration)
    assert answer.status_code == 200, answer.text
    return str(answer.json())


async def post_trigger(
    application: Application, kind: str, channel: str | None = None, id: str | None = None, **fields: Any
) -> httpx.Response:
    """Fields in PascalCase are the trigger's, others its configuration's."""
    own = {name: value for name, value in fields.items() if name[0].isupper()}
    configuration = {name: value for name, value in fields.items() if name not in own}
    body = {
        "Id": id,
        "TypeName": kind,
        "TargetChannel": channel,
        "Configuration": msgspec.json.encode(configuration).decode(),
        **own,
    }
    return await application.operator.post("/api/EventHub/Trigger", json=body)


async def trigger(application: Application, id: str) -> dict[str, Any]:
    """The trigger as it is listed."""
    found = (await application.reader.get("/api/EventHub/Trigger")).json()
    return next(each for each in found if each["Id"] == id)


async def stands(application: Application, id: str, status: str) -> dict[str, Any]:
    """The trigger's status, once it is this one."""

    async def there() -> dict[str, Any] | None:
        found = (await trigger(application, id))["Status"]
        return found if found["Status"] == status else None

    found = await until(there)
    assert found is not None
    return found


def moves(status: dict[str, Any]) -> list[str]:
    """The statuses that it went through."""
    return [move["NewStatus"] for move in status["Messages"]]


async def remove_trigger(application: Application, id: str) -> None:
    answer = await application.operator.delete(f"/api/EventHub/Trigger/{id}")
    assert answer.status_code == 200, answer.text


def times(events: list[dict[str, Any]]) -> list[datetime]:
    """When the events say that they happened."""
    return [datetime.fromisoformat(event["time"]) for event in events]
