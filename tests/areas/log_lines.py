"""Log lines as agents report them and callers find them."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from penstock.protocol.report import LogLine
from tests.application import Application


def line(name: str, message: str, **fields: Any) -> LogLine:
    fields.setdefault("id", uuid4())
    fields.setdefault("at", datetime.now(UTC))
    fields.setdefault("level", "INFO")
    return LogLine(flow=f"schedule-{name}", message=message, **fields)


async def logged(application: Application, **query: Any) -> list[str]:
    answer = await application.reader.get("/integrations/logs", params=query)
    assert answer.status_code == 200, answer.text
    return [item["Message"] for item in answer.json()]


async def has_logged(application: Application, count: int, **query: Any) -> bool:
    return len(await logged(application, **query)) == count
