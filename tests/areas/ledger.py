"""The tick ledger as agents report it and callers read it."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from penstock.kernel.cron import Cron
from penstock.kernel.duration import Duration
from penstock.protocol.report import RunFinished, RunStarted, TickOutcome, TickReport
from tests.application import Application

EACH_SECOND = "* * * * * ?"
BEGIN = datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=2)


async def ticks(application: Application, name: str, **query: Any) -> list[dict[str, Any]]:
    answer = await application.reader.get(f"/scheduling/schedules/{name}/ticks", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


async def runs(application: Application, name: str, **query: Any) -> list[dict[str, Any]]:
    answer = await application.reader.get(f"/scheduling/schedules/{name}/runs", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


async def messages(application: Application, name: str) -> list[dict[str, Any]]:
    """The stream's messages, oldest first."""
    answer = await application.reader.get(f"/eventing/streams/schedule-{name}/messages", params={"Count": 1000})
    assert answer.status_code == 200, answer.text
    return [msgspec.json.decode(b64decode(message["Data"])) for message in reversed(answer.json())]


def fired(name: str, at: datetime, **fields: Any) -> TickReport:
    fields.setdefault("last_due", at)
    fields.setdefault("outcome", TickOutcome.FIRED)
    return TickReport(flow=f"schedule-{name}", version="1", due=at, schedule=name, **fields)


def started(name: str, run: UUID, at: datetime = BEGIN) -> RunStarted:
    return RunStarted(
        run_id=run, flow=f"schedule-{name}", version="1", due=at, started=at, command="date +%s", schedule=name
    )


def finished(name: str, run: UUID, at: datetime = BEGIN, **fields: Any) -> RunFinished:
    fields.setdefault("exit_code", 0)
    return RunFinished(
        run_id=run,
        flow=f"schedule-{name}",
        version="1",
        due=at,
        started=at,
        finished=at + timedelta(seconds=2),
        duration=Duration(seconds=2),
        schedule=name,
        **fields,
    )


async def count(listed: Callable[[], Awaitable[Sequence[Any]]], count: int) -> bool:
    return len(await listed()) == count


def covered(told: Sequence[dict[str, Any]], until: datetime | None = None) -> list[datetime]:
    """Each second that entries for every second cover, with those that are covered twice twice, ascending."""
    covered: list[datetime] = []
    for tick in told:
        first, last = datetime.fromisoformat(tick["Due"]), datetime.fromisoformat(tick["LastDue"])
        between = list(Cron.parse(EACH_SECOND).between(first - timedelta(seconds=1), last, UTC))
        assert len(between) == tick["Count"]
        covered += between
    return sorted(each for each in covered if until is None or each <= until)
