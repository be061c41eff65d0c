"""The tick ledger: what agents report, once, whatever dies."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penstock.areas.schedules.ledger import Ledger
from penstock.protocol.report import ScheduleReport, TickOutcome
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.faults import kill_bus
from tests.areas.ledger import BEGIN, count, finished, fired, messages, runs, started, ticks
from tests.areas.scheduled import apply, schedule
from tests.areas.waiting import until


async def test_fired_ticks_and_runs_are_kept_and_published(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    run = uuid4()
    await link.report_schedules(ticks=[fired(name, BEGIN)], started=[started(name, run)])
    await until(lambda: count(lambda: runs(application, name), 1))
    [going] = await runs(application, name)
    assert (going["Finished"], going["Command"]) == (None, "date +%s")
    await link.report_schedules(finished=[finished(name, run, output="done\n", output_bytes=5)])
    await until(lambda: count(lambda: messages(application, name), 2))
    [tick] = await ticks(application, name)
    assert (tick["AgentId"], tick["Outcome"], tick["Count"], tick["Reason"]) == (str(link.id), "fired", 1, None)
    [ended] = await runs(application, name)
    assert (ended["RunId"], ended["ExitCode"], ended["Duration"], ended["Output"]) == (
        str(run),
        0,
        "00:00:02",
        "done\n",
    )
    begun, end = await messages(application, name)
    assert (begun["Event"], begun["RunId"], begun["Command"]) == ("RunStarted", str(run), "date +%s")
    assert (end["Event"], end["ExitCode"], end["Duration"], end["Output"]) == ("RunFinished", 0, "00:00:02", "done\n")


async def test_skipped_and_missed_ranges_are_published_with_their_reason(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    hour = timedelta(hours=1)
    stopped = fired(name, BEGIN, last_due=BEGIN + hour, count=3, outcome=TickOutcome.SKIPPED, reason="stopped")
    away = fired(name, BEGIN + 2 * hour, count=1, outcome=TickOutcome.MISSED, reason="agent away")
    await link.report_schedules(ticks=[stopped, away])
    await until(lambda: count(lambda: messages(application, name), 2))
    told = await messages(application, name)
    assert [(each["Event"], each["Count"], each["Reason"]) for each in told] == [
        ("TicksSkipped", 3, "stopped"),
        ("TicksMissed", 1, "agent away"),
    ]


async def test_reports_that_come_again_double_nothing(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name))
    run = uuid4()
    again = ScheduleReport(
        ticks=[fired(name, BEGIN), fired(name, BEGIN + timedelta(hours=1), outcome=TickOutcome.MISSED)],
        started=[started(name, run)],
        finished=[finished(name, run)],
    )
    ledger = application.platform.container.get(Ledger)
    await asyncio.gather(*(ledger.take([(link.id, again)] * 2) for _ in range(4)))
    assert len(await ticks(application, name)) == 2
    assert len(await runs(application, name)) == 1
    assert len(await messages(application, name)) == 3


async def test_an_end_without_a_begin_is_a_run_too_and_keeps_the_command_that_comes_later(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    run = uuid4()
    await link.report_schedules(finished=[finished(name, run, exit_code=None, error="no such program")])
    await until(lambda: count(lambda: runs(application, name), 1))
    [failed] = await runs(application, name)
    assert (failed["ExitCode"], failed["Error"]) == (None, "no such program")


async def test_one_agent_cannot_suppress_another_by_its_ids(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    run = uuid4()
    async with linked_agent(application, f"second-{name}") as second:
        for agent in (link, second):
            await agent.report_schedules(ticks=[fired(name, BEGIN)], started=[started(name, run)])
        await until(lambda: count(lambda: runs(application, name), 2))
        assert {tick["AgentId"] for tick in await ticks(application, name)} == {str(link.id), str(second.id)}


async def test_what_names_no_schedule_of_its_own_is_passed_over(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name), schedule(f"{name}-2"))
    foreign = msgspec.structs.replace(fired(name, BEGIN), flow=f"schedule-{name}-2")
    odd = msgspec.structs.replace(fired(name, BEGIN), schedule="a\0b *", flow="schedule-a\0b *")
    free = msgspec.structs.replace(fired(name, BEGIN), schedule=None)
    gone = fired(f"{name}-gone", BEGIN, outcome=TickOutcome.MISSED)
    await link.report_schedules(ticks=[foreign, odd, free, gone, fired(name, BEGIN + timedelta(seconds=1))])
    await until(lambda: count(lambda: ticks(application, name), 1))
    assert await ticks(application, f"{name}-2") == []


async def test_ticks_are_found_by_time_and_outcome_in_pages(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    minute = timedelta(minutes=1)
    told = [fired(name, BEGIN + number * minute) for number in range(5)]
    told.append(fired(name, BEGIN + 5 * minute, outcome=TickOutcome.MISSED, reason="agent away"))
    await link.report_schedules(ticks=told)
    await until(lambda: count(lambda: ticks(application, name), 6))

    async def minutes(**query: Any) -> list[int]:
        return [datetime.fromisoformat(tick["Due"]).minute for tick in await ticks(application, name, **query)]

    assert await minutes() == [5, 4, 3, 2, 1, 0]
    assert await minutes(Outcome="missed") == [5]
    assert await minutes(Outcome="skipped") == []
    assert await minutes(FromDate=(BEGIN + 4 * minute).isoformat()) == [5, 4]
    assert await minutes(ToDate=(BEGIN + 2 * minute).isoformat()) == [1, 0]
    assert await minutes(Count=2, Skip=1) == [4, 3]
    assert await minutes(Count=5, Limit=1) == [5]
    answer = await application.reader.get(f"/scheduling/schedules/{name}/ticks", params={"Count": 2})
    assert "Skip=2" in answer.links["next"]["url"]


@pytest.mark.parametrize("query", ["Outcome=lost", "Count=-1", "Limit=1001", "FromDate=soon", "Version=1"])
async def test_bad_ledger_queries_are_refused(application: Application, name: str, query: str) -> None:
    await apply(application, schedule(name))
    assert (await application.reader.get(f"/scheduling/schedules/{name}/ticks?{query}")).status_code == 400


async def test_ticks_and_runs_are_counted_in_the_metrics(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name))

    async def counted() -> dict[str, float]:
        text = (await application.admin.get("/metrics")).text
        lines = [line.rpartition(" ") for line in text.splitlines() if line.startswith("penstock_")]
        return {metric: float(value) for metric, _, value in lines}

    before = await counted()
    run, failed = uuid4(), uuid4()
    await link.report_schedules(
        ticks=[fired(name, BEGIN), fired(name, BEGIN + timedelta(days=1), count=7, outcome=TickOutcome.MISSED)],
        finished=[finished(name, run), finished(name, failed, exit_code=3)],
    )
    await until(lambda: count(lambda: messages(application, name), 3))
    after = await counted()
    grown = {
        'penstock_ticks_total{outcome="fired"}': 1,
        'penstock_ticks_total{outcome="missed"}': 7,
        'penstock_schedule_runs_total{result="succeeded"}': 1,
        'penstock_schedule_runs_total{result="failed"}': 1,
    }
    assert {metric: after[metric] - before[metric] >= by for metric, by in grown.items()} == dict.fromkeys(grown, True)


async def test_the_ledger_is_complete_after_the_bus_was_killed(tmp_path: Path, name: str) -> None:
    async with (
        running_application(tmp_path) as application,
        linked_agent(application, f"agent-{name}") as link,
    ):
        await apply(application, schedule(name))
        for number in range(30):
            at = BEGIN + timedelta(seconds=number)
            run = uuid4()
            await link.report_schedules(
                ticks=[fired(name, at)], started=[started(name, run, at)], finished=[finished(name, run, at)]
            )
            if number == 15:
                await kill_bus(application)
        await until(lambda: count(lambda: ticks(application, name, Count=1000), 30))
        await until(lambda: count(lambda: messages(application, name), 60))
        assert len(await runs(application, name, Count=1000)) == 30


async def test_ledger_and_streams_survive_a_restart(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as application:
        await apply(application, schedule(name))
        async with linked_agent(application, f"agent-{name}") as link:
            await link.report_schedules(started=[started(name, uuid4())], ticks=[fired(name, BEGIN)])
            await until(lambda: count(lambda: messages(application, name), 1))
        before = await ticks(application, name), await runs(application, name), await messages(application, name)
    async with running_application(tmp_path) as application:
        after = await ticks(application, name), await runs(application, name), await messages(application, name)
        assert after == before
