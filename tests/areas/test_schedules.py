"""Schedules over HTTP and the bus: documents, flows and streams, the tick ledger."""

import asyncio
import os
import signal
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.areas.agents.roster import Roster
from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.gaps import Gaps
from penstock.areas.flows.model import Flow
from penstock.areas.schedules.closed import ClosedLedgers
from penstock.areas.schedules.closing import LedgerClosing
from penstock.areas.schedules.gap_accounting import GapAccounting
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.areas.schedules.spans import span_of
from penstock.areas.schedules.streams import ScheduleStreams, stream_of
from penstock.bus.bus import Bus
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.clock import SystemClock
from penstock.kernel.cron import Cron
from penstock.kernel.duration import Duration
from penstock.protocol.report import RunFinished, RunStarted, ScheduleReport, TickOutcome, TickReport
from penstock.store.store import Store
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.scheduled import NEVER, apply, removal, schedule
from tests.areas.waiting import until

EACH_SECOND = "* * * * * ?"
BEGIN = datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=2)


@pytest.fixture
def name() -> str:
    return f"s{uuid4().hex[:12]}"


@pytest.fixture
async def link(application: Application, name: str) -> AsyncIterator[AgentLink]:
    async with linked_agent(application, f"agent-{name}", {"Environment": name}) as linked:
        yield linked


async def errors_of(application: Application, document: dict[str, Any]) -> dict[str, str]:
    answer = await application.apply(document)
    assert answer.status_code == 400, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


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


async def action(application: Application, document: dict[str, Any]) -> str:
    answer = await application.admin.post("/configuration/plan", json=msgspec.json.encode(document).decode())
    assert answer.status_code == 200, answer.text
    [change] = answer.json()
    return str(change["Action"])


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


def without_waiting(application: Application) -> LedgerClosing:
    """The closing of ledgers, that does not wait for what agents may still have to tell."""
    get = application.platform.container.get
    return LedgerClosing(
        get(Store), SystemClock(), get(Roster), get(Ledger), get(ClosedLedgers), SchedulePolicy(close_after=timedelta())
    )


# Documents


async def test_an_applied_schedule_makes_a_flow_and_a_stream(application: Application, name: str) -> None:
    await apply(
        application, schedule(name, "0 30 2 ? * MON-FRI", "backup", ["--all", "a b"], description="nightly backup")
    )
    found = await application.reader.get(f"/scheduling/schedules/{name.upper()}")
    assert found.json() == {
        "Name": name,
        "Description": "nightly backup",
        "Cron": "0 30 2 ? * MON-FRI",
        "Command": "backup",
        "Arguments": ["--all", "a b"],
    }
    assert found.json() in (await application.reader.get("/scheduling/schedules")).json()
    assert (await application.reader.get(f"/integrations/flows/schedule-{name}")).status_code == 200
    assert await messages(application, name) == []


async def test_a_removed_schedule_takes_flow_and_stream_along_and_can_come_again(
    application: Application, name: str
) -> None:
    paths = (
        f"/scheduling/schedules/{name}",
        f"/integrations/flows/schedule-{name}",
        f"/eventing/streams/schedule-{name}/messages",
    )
    for _ in range(2):
        await apply(application, schedule(name))
        assert [(await application.reader.get(path)).status_code for path in paths] == [200, 200, 200]
        await apply(application, removal(name))
        assert [(await application.reader.get(path)).status_code for path in paths] == [404, 404, 404]
    await apply(application, removal(name))


async def test_an_unchanged_document_keeps_everything(application: Application, name: str) -> None:
    document = schedule(name, requirements={"OS": "plan9"})
    assert await action(application, document) == "create"
    await apply(application, document)
    version = (await application.reader.get(f"/integrations/flows/schedule-{name}")).json()["Version"]
    assert await action(application, document) == "keep"
    await apply(application, document)
    again = (await application.reader.get(f"/integrations/flows/schedule-{name}")).json()["Version"]
    assert (version, again) == ("1", "1")
    assert await action(application, schedule(name, "1 0 0 1 1 ?", requirements={"OS": "plan9"})) == "change"
    assert await action(application, removal(name)) == "remove"


async def test_names_with_dots_have_streams_of_their_own(application: Application, name: str) -> None:
    names = [f"{name}.a", f"{name}..a", f"{name}.a."]
    await apply(application, *(schedule(each) for each in names))
    for each in names:
        assert await messages(application, each) == []


@pytest.mark.parametrize(
    ("cron", "allowed"),
    [
        ("* * * * *", "6 fields"),
        ("61 * * * * ?", "0-59"),
        ("0 0 0 31 2 ?", "day-of-month"),
        ("0 0 0 1 * MON", "?"),
        ("0 0 0 ? * FUN", "day-of-week"),
        ("", "6 fields"),
    ],
)
async def test_a_cron_error_names_the_field_and_what_is_allowed(
    application: Application, name: str, cron: str, allowed: str
) -> None:
    errors = await errors_of(application, schedule(name, cron))
    assert list(errors) == ["documents[0].spec.cron"]
    assert allowed in errors["documents[0].spec.cron"]
    assert (await application.reader.get(f"/scheduling/schedules/{name}")).status_code == 404


async def test_all_that_is_wrong_in_a_document_is_told_at_once(application: Application) -> None:
    bad = schedule("no name", "never", " ", ["ok", "a\0b"], {"": "x", "Key": "v" * 257})
    errors = await errors_of(application, bad)
    assert set(errors) == {
        "documents[0].metadata.name",
        "documents[0].spec.cron",
        "documents[0].spec.command",
        "documents[0].spec.args[1]",
        "documents[0].spec.requirements",
        "documents[0].spec.requirements.Key",
    }


async def test_a_name_leaves_room_for_the_flows_name(application: Application) -> None:
    await apply(application, schedule("n" * 119))
    errors = await errors_of(application, schedule("n" * 120))
    assert list(errors) == ["documents[0].metadata.name"]
    await apply(application, removal("n" * 119))


async def test_of_a_bad_and_a_good_document_neither_is_applied(application: Application, name: str) -> None:
    answer = await application.apply(schedule(name), schedule(f"{name}-bad", "never"))
    assert answer.status_code == 400
    assert (await application.reader.get(f"/scheduling/schedules/{name}")).status_code == 404


async def test_documents_applied_at_the_same_time_leave_one_whole_schedule(application: Application, name: str) -> None:
    documents = [schedule(name, args=[str(number)]) for number in range(6)]
    answers = await asyncio.gather(*(application.apply(document) for document in documents))
    assert {answer.status_code for answer in answers} <= {202, 409, 412}
    [arguments] = (await application.reader.get(f"/scheduling/schedules/{name}")).json()["Arguments"]
    spec = await application.platform.container.get(FlowCatalog).stored([f"schedule-{name}"])
    assert f"'{arguments}'" in spec[f"schedule-{name}"].flow_spec


async def test_an_unknown_schedule_is_not_found(application: Application, name: str) -> None:
    for path in ("", "/ticks", "/runs"):
        assert (await application.reader.get(f"/scheduling/schedules/{name}{path}")).status_code == 404


# What agents report


async def test_fired_ticks_and_runs_are_kept_and_published(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    run = uuid4()
    await link.report_schedules(ticks=[fired(name, BEGIN)], started=[started(name, run)])
    await until(lambda: _count(lambda: runs(application, name), 1))
    [going] = await runs(application, name)
    assert (going["Finished"], going["Command"]) == (None, "date +%s")
    await link.report_schedules(finished=[finished(name, run, output="done\n", output_bytes=5)])
    await until(lambda: _count(lambda: messages(application, name), 2))
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
    await until(lambda: _count(lambda: messages(application, name), 2))
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
    await until(lambda: _count(lambda: runs(application, name), 1))
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
        await until(lambda: _count(lambda: runs(application, name), 2))
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
    await until(lambda: _count(lambda: ticks(application, name), 1))
    assert await ticks(application, f"{name}-2") == []


async def test_ticks_are_found_by_time_and_outcome_in_pages(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    minute = timedelta(minutes=1)
    told = [fired(name, BEGIN + number * minute) for number in range(5)]
    told.append(fired(name, BEGIN + 5 * minute, outcome=TickOutcome.MISSED, reason="agent away"))
    await link.report_schedules(ticks=told)
    await until(lambda: _count(lambda: ticks(application, name), 6))

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


async def test_a_stream_that_somebody_deleted_is_made_again_when_something_happens(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    await Streams(application.platform.container.get(Bus)).delete(stream_of(name))
    await link.report_schedules(started=[started(name, uuid4())])
    await until(lambda: _has_stream(application, name))
    await until(lambda: _count(lambda: messages(application, name), 1))


async def test_repair_makes_what_is_missing_and_deletes_what_is_orphaned(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    bus = application.platform.container.get(Bus)
    streams = Streams(bus)
    await streams.delete(stream_of(name))
    orphan = stream_of(f"{name}-orphan")
    await streams.ensure(StreamSpec(name=orphan, subjects=[f"orphan.{name}"]))
    await application.platform.container.get(ScheduleStreams).repair()
    names = {info.name for info in await streams.list()}
    assert {stream_of(name), orphan} <= names
    store, clock = application.platform.container.get(Store), SystemClock()
    await ScheduleStreams(bus, store, clock, SchedulePolicy(orphan_after=timedelta())).repair()
    names = {info.name for info in await streams.list()}
    assert stream_of(name) in names
    assert orphan not in names


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
    await until(lambda: _count(lambda: messages(application, name), 3))
    after = await counted()
    grown = {
        'penstock_ticks_total{outcome="fired"}': 1,
        'penstock_ticks_total{outcome="missed"}': 7,
        'penstock_schedule_runs_total{result="succeeded"}': 1,
        'penstock_schedule_runs_total{result="failed"}': 1,
    }
    assert {metric: after[metric] - before[metric] >= by for metric, by in grown.items()} == dict.fromkeys(grown, True)


# Due times that are nobody's


async def test_due_times_that_no_agent_matches_are_skipped_without_hole_or_double(
    application: Application, name: str
) -> None:
    accounting = application.platform.container.get(GapAccounting)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    begun = await _since(application, name)
    for _ in range(3):
        await asyncio.sleep(0.7)
        await asyncio.gather(*(accounting.sweep() for _ in range(3)))
    async with linked_agent(application, f"late-{name}", {"Environment": name}) as link:
        item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
        await accounting.sweep()
        await until(lambda: _gap_is_closed(application, name))
        told = await ticks(application, name)
    assert {(tick["AgentId"], tick["Outcome"], tick["Reason"]) for tick in told} == {
        (None, "skipped", "no agent matched")
    }
    assert _covered(told) == list(Cron.parse(EACH_SECOND).between(begun, item.since, UTC))
    published = [(each["Due"], each["Count"]) for each in await messages(application, name)]
    assert published == [(tick["Due"], tick["Count"]) for tick in reversed(told)]


async def test_due_times_of_a_stopped_or_deleted_flow_without_agents_say_so(
    application: Application, name: str
) -> None:
    accounting = application.platform.container.get(GapAccounting)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    begun = await _since(application, name)
    await asyncio.sleep(1.1)
    answer = await application.operator.post(f"/integrations/flows/stop?integrationFlowName=schedule-{name}")
    assert answer.status_code == 202, answer.text
    stopped = await _since(application, name)
    await asyncio.sleep(1.1)
    answer = await application.operator.delete(f"/integrations/flows/schedule-{name}")
    assert answer.status_code == 202, answer.text
    await asyncio.sleep(1.1)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    again = await _since(application, name)
    await asyncio.sleep(1)
    await accounting.sweep()
    told = [tick for tick in await ticks(application, name) if datetime.fromisoformat(tick["Due"]) <= again]
    assert _covered(told, until=again) == list(Cron.parse(EACH_SECOND).between(begun, again, UTC))
    reasons = [tick["Reason"] for tick in reversed(told)]
    assert list(dict.fromkeys(reasons)) == ["no agent matched", "stopped", "the flow was deleted"]
    first_stopped = next(tick for tick in reversed(told) if tick["Reason"] == "stopped")
    assert datetime.fromisoformat(first_stopped["Due"]) > stopped


async def test_a_changed_cron_holds_from_the_change_on(application: Application, name: str) -> None:
    accounting = application.platform.container.get(GapAccounting)
    requirements = {"Environment": name}
    await apply(application, schedule(name, EACH_SECOND, requirements=requirements))
    begun = await _since(application, name)
    await asyncio.sleep(1.5)
    await apply(application, schedule(name, "0/2 * * * * ?", requirements=requirements))
    changed = await _since(application, name)
    await asyncio.sleep(2.5)
    await apply(application, schedule(name, NEVER, requirements=requirements))
    ended = await _since(application, name)
    await asyncio.sleep(1)
    await accounting.sweep()
    told = list(reversed(await ticks(application, name)))
    assert [tick["Version"] for tick in told] == ["1", "2"]
    old, new = (sum(tick["Count"] for tick in told if tick["Version"] == version) for version in ("1", "2"))
    assert old == Cron.parse(EACH_SECOND).count_between(begun, changed, UTC)
    assert new == Cron.parse("0/2 * * * * ?").count_between(changed, ended, UTC)


async def test_a_removed_schedule_is_accounted_for_up_to_its_removal(application: Application, name: str) -> None:
    accounting = application.platform.container.get(GapAccounting)
    document = schedule(name, EACH_SECOND, requirements={"Environment": name})
    await apply(application, document)
    await asyncio.sleep(1.2)
    await apply(application, removal(name))
    removed = datetime.now(UTC)
    await accounting.sweep()
    await asyncio.sleep(1.2)
    await accounting.sweep()
    await apply(application, schedule(name, NEVER))
    told = await ticks(application, name)
    assert told
    assert _covered(told)[-1] <= removed


@settings(deadline=None)
@given(
    st.sampled_from([EACH_SECOND, "0 0/7 * * * ?", "5 0 3 * * ?", "0 30 2 ? * SUN", NEVER]),
    st.datetimes(datetime(2026, 3, 1), datetime(2026, 4, 2), timezones=st.just(UTC)),
    st.timedeltas(timedelta(), timedelta(hours=6)),
    st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
)
def test_a_span_is_the_first_the_last_and_the_number_of_due_times(
    cron: str, after: datetime, length: timedelta, zone: str
) -> None:
    parsed, until, place = Cron.parse(cron), after + length, ZoneInfo(zone)
    due = list(parsed.between(after, until, place))
    span = span_of(parsed, after, until, place)
    assert (span and (span.first, span.last, span.count)) == ((due[0], due[-1], len(due)) if due else None)


# Deprecated agents


async def test_what_a_deprecated_agent_left_open_was_missed_up_to_its_deprecation(
    application: Application, link: AgentLink, name: str
) -> None:
    closing = without_waiting(application)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
    due = list(Cron.parse(EACH_SECOND).between(item.since, item.since + timedelta(seconds=1), UTC))
    await link.report_schedules(ticks=[fired(name, each) for each in due])
    await until(lambda: _count(lambda: ticks(application, name), len(due)))
    await asyncio.sleep(2.5)
    await application.admin.post(f"/agents/{link.id}/deprecate")
    deprecated = (await application.reader.get(f"/agents/{link.id}")).json()["LastUpdateDate"]
    until_then = datetime.fromisoformat(deprecated)
    await asyncio.gather(*(closing.close_all() for _ in range(3)))
    mine = [tick for tick in await ticks(application, name) if tick["AgentId"] == str(link.id)]
    missed = [tick for tick in mine if tick["Outcome"] == "missed"]
    assert [tick["Reason"] for tick in missed] == ["agent away"]
    assert _covered(mine) == list(Cron.parse(EACH_SECOND).between(item.since, until_then, UTC))
    # What the agent still sends when it comes back is accounted for already.
    await link.report_schedules(ticks=[fired(name, until_then.replace(microsecond=0) - timedelta(seconds=1))])
    run = uuid4()
    await link.report_schedules(started=[started(name, run)])
    await until(lambda: _count(lambda: runs(application, name), 1))
    assert [tick for tick in await ticks(application, name) if tick["AgentId"] == str(link.id)] == mine


async def test_after_a_deprecation_the_due_times_are_nobodys(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    await application.admin.post(f"/agents/{link.id}/deprecate")
    deprecated = datetime.fromisoformat((await application.reader.get(f"/agents/{link.id}")).json()["LastUpdateDate"])
    await until(lambda: _is_unmatched(application, name))
    await asyncio.sleep(2)
    await application.platform.container.get(GapAccounting).sweep()
    told = [tick for tick in await ticks(application, name) if tick["AgentId"] is None]
    covered = _covered(told)
    assert covered == list(Cron.parse(EACH_SECOND).between(deprecated, covered[-1], UTC))


# Faults


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
                await _kill_bus(application)
        await until(lambda: _count(lambda: ticks(application, name, Count=1000), 30))
        await until(lambda: _count(lambda: messages(application, name), 60))
        assert len(await runs(application, name, Count=1000)) == 30


async def test_ledger_and_streams_survive_a_restart(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as application:
        await apply(application, schedule(name))
        async with linked_agent(application, f"agent-{name}") as link:
            await link.report_schedules(started=[started(name, uuid4())], ticks=[fired(name, BEGIN)])
            await until(lambda: _count(lambda: messages(application, name), 1))
        before = await ticks(application, name), await runs(application, name), await messages(application, name)
    async with running_application(tmp_path) as application:
        after = await ticks(application, name), await runs(application, name), await messages(application, name)
        assert after == before


async def _kill_bus(application: Application) -> None:
    nats, bus = application.platform.nats, application.platform.container.get(Bus)
    assert nats is not None
    assert nats.pid is not None
    os.kill(nats.pid, signal.SIGKILL)
    await until(lambda: _is(lambda: not bus.connected))
    await until(lambda: _is(lambda: bus.connected))


async def _is(condition: Callable[[], bool]) -> bool:
    return condition()


async def _count(listed: Callable[[], Awaitable[Sequence[Any]]], count: int) -> bool:
    return len(await listed()) == count


async def _has_stream(application: Application, name: str) -> bool:
    answer = await application.reader.get(f"/eventing/streams/schedule-{name}/messages")
    return answer.status_code == 200


async def _flow(application: Application, name: str) -> Flow:
    [flow] = (await application.platform.container.get(FlowCatalog).stored([f"schedule-{name}"])).values()
    return flow


async def _since(application: Application, name: str) -> datetime:
    return (await _flow(application, name)).since


async def _is_unmatched(application: Application, name: str) -> bool:
    return (await _flow(application, name)).unmatched_since is not None


async def _gap_is_closed(application: Application, name: str) -> bool:
    await application.platform.container.get(GapAccounting).sweep()
    return all(gap.schedule != name for gap in await application.platform.container.get(Gaps).gaps())


def _covered(told: Sequence[dict[str, Any]], until: datetime | None = None) -> list[datetime]:
    """Each second that entries for every second cover, with those that are covered twice twice, ascending."""
    covered: list[datetime] = []
    for tick in told:
        first, last = datetime.fromisoformat(tick["Due"]), datetime.fromisoformat(tick["LastDue"])
        between = list(Cron.parse(EACH_SECOND).between(first - timedelta(seconds=1), last, UTC))
        assert len(between) == tick["Count"]
        covered += between
    return sorted(each for each in covered if until is None or each <= until)
