"""The whole ledger with a real agent: whatever dies, no due time is left out and none is told twice."""

import asyncio
import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.areas.schedules.gap_accounting import GapAccounting
from penstock.kernel.cron import Cron
from tests.application import Application, running_application
from tests.areas.agent_program import agent_program, pending_token
from tests.areas.scheduled import apply, schedule
from tests.areas.waiting import until

EACH_SECOND = "* * * * * ?"


async def ticks(application: Application, name: str) -> list[dict[str, Any]]:
    answer = await application.reader.get(f"/scheduling/schedules/{name}/ticks", params={"Count": 1000})
    assert answer.status_code == 200, answer.text
    return list(reversed(answer.json()))


async def fired(application: Application, name: str, after: datetime, count: int = 2) -> bool:
    told = [tick for tick in await ticks(application, name) if tick["Outcome"] == "fired"]
    return len([tick for tick in told if datetime.fromisoformat(tick["Due"]) > after]) >= count


async def test_no_due_time_is_left_out_or_told_twice(tmp_path: Path) -> None:
    name = f"e{uuid4().hex[:10]}"
    requirements = {"Environment": name}
    async with running_application(tmp_path / "server", PENSTOCK_PING_SECONDS="1") as application:
        token = await pending_token(application)
        await apply(application, schedule(name, EACH_SECOND, "true", requirements=requirements))
        begun = datetime.now(UTC)
        await asyncio.sleep(2)
        async with agent_program(application, tmp_path / "agent", token, name) as agent:
            await until(lambda: fired(application, name, begun))
            agent.kill()
            await agent.wait()
        killed = datetime.now(UTC)
        await asyncio.sleep(3)
        async with agent_program(application, tmp_path / "agent", token, name) as agent:
            await until(lambda: fired(application, name, killed))
            nats = application.platform.nats
            assert nats is not None
            assert nats.pid is not None
            os.kill(nats.pid, signal.SIGKILL)
            away = datetime.now(UTC)
            await until(lambda: fired(application, name, away + timedelta(seconds=2)))
            await apply(application, schedule(name, EACH_SECOND, "true", ["2"], requirements=requirements))
            changed = datetime.now(UTC)
            await until(lambda: fired(application, name, changed))
            [found] = [each for each in (await application.reader.get("/agents")).json() if each["Name"] == name]
            await application.admin.post(f"/agents/{found['Id']}/deprecate")
            await asyncio.sleep(3)
        await application.platform.container.get(GapAccounting).sweep()
        told = await ticks(application, name)
        runs = (await application.reader.get(f"/scheduling/schedules/{name}/runs", params={"Count": 1000})).json()
    covered = [due for tick in told for due in _due_times(tick)]
    assert covered == sorted(covered)
    assert sorted(set(covered)) == list(
        Cron.parse(EACH_SECOND).between(covered[0] - timedelta(seconds=1), covered[-1], UTC)
    )
    assert covered[0] - begun < timedelta(seconds=1)
    assert len(covered) == len(set(covered))
    assert {tick["Reason"] for tick in told if tick["AgentId"] is None} == {"no agent matched"}
    assert "agent away" in {tick["Reason"] for tick in told}
    assert {run["Due"] for run in runs} == {tick["Due"] for tick in told if tick["Outcome"] == "fired"}


def _due_times(tick: dict[str, Any]) -> list[datetime]:
    first, last = datetime.fromisoformat(tick["Due"]), datetime.fromisoformat(tick["LastDue"])
    due = list(Cron.parse(EACH_SECOND).between(first - timedelta(seconds=1), last, UTC))
    assert len(due) == tick["Count"]
    return due
