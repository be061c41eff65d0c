"""Flows over HTTP and the bus: desired state, requests, states, logs, flows that no agent matches."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penstock.areas.flows import desired
from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.bus.bus import Bus
from penstock.kernel.errors import Forbidden, Invalid, PenstockError, Unavailable
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.report import FlowState, IntegrationFlowStatusEnum, LogLine
from penstock.protocol.work import IntegrationStatusEnum2, WorkQuery
from penstock.resource.audit import ENTITY_EVENTS
from penstock.store.store import Store, decode
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink, linked_agent, reconnected_agent, register
from tests.areas.scheduled import apply, removal, schedule
from tests.areas.waiting import until

RUNNING, ERROR, STOPPED = (
    IntegrationFlowStatusEnum.RUNNING,
    IntegrationFlowStatusEnum.ERROR,
    IntegrationFlowStatusEnum.STOPPED,
)


@pytest.fixture
def name() -> str:
    return f"f{uuid4().hex[:12]}"


@pytest.fixture
async def link(application: Application, name: str) -> AsyncIterator[AgentLink]:
    """An agent of its own environment; `name` is also the value of its capability Environment."""
    async with linked_agent(application, f"agent-{name}", {"Environment": name, "Region": "eu"}) as linked:
        yield linked


async def flow(application: Application, name: str) -> dict[str, Any]:
    listed = (await application.reader.get("/integrations/flows")).json()
    [found] = [each for each in listed if each["FlowName"] == f"schedule-{name}"]
    return dict(found)


async def request(application: Application, what: str, name: str) -> int:
    answer = await application.operator.post(f"/integrations/flows/{what}?integrationFlowName=schedule-{name}")
    return answer.status_code


async def events_of(application: Application, name: str) -> list[tuple[str, str]]:
    """Kind and message of the entity events that say whether an agent matches, oldest first."""
    bodies = await application.platform.container.get(Store).entries(ENTITY_EVENTS, limit=10_000, oldest_first=True)
    events = [decode(body, ENTITY_EVENTS.type) for body in bodies]
    mine = [event for event in events if event.subject == f"schedule-{name}"]
    return [
        (event.event_type or "", msgspec.json.decode(event.content or "")["After"]["Message"])
        for event in mine
        if event.event_type in ("flows.unmatched", "flows.matched")
    ]


def reference(variable: str) -> str:
    return "{{var:" + variable + "}}"


# Desired state


async def test_an_agent_gets_the_flows_that_it_matches_and_no_others(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(
        application,
        schedule(name, command="date", args=["+%s"], requirements={"environment": name}),
        schedule(f"{name}.both", requirements={"Environment": name, "REGION": "eu"}),
        schedule(f"{name}.case", requirements={"Environment": name.upper()}),
        schedule(f"{name}.more", requirements={"Environment": name, "Team": "billing"}),
    )
    digest = {flow: stamp for flow, stamp in (await link.digest()).items() if name in flow}
    assert set(digest) == {f"schedule-{name}", f"schedule-{name}.both"}
    work = await link.work(*digest, f"schedule-{name}.more", "schedule-unknown")
    assert {flow: item.stamp for flow, item in work.items()} == digest
    item = work[f"schedule-{name}"]
    assert (item.version, item.schedule, item.requested) == ("1", name, IntegrationStatusEnum2.STARTED)
    assert "+%s" in item.spec


async def test_a_flow_without_requirements_is_every_agents(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    assert f"schedule-{name}" in await link.digest()
    await apply(application, removal(name))


async def test_a_digest_comes_in_pages(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, *(schedule(f"{name}-{i:03}", requirements={"Environment": name}) for i in range(7)))
    everything = await link.digest()
    before, desired._PAGE = desired._PAGE, 3
    try:
        assert await link.digest() == everything
    finally:
        desired._PAGE = before
    assert [flow for flow in everything if name in flow] == [f"schedule-{name}-{i:03}" for i in range(7)]


async def test_what_does_not_fit_into_an_answer_is_left_for_another(
    application: Application, link: AgentLink, name: str
) -> None:
    argument = "x" * 60_000
    names = [f"{name}-{i:02}" for i in range(50)]
    await apply(application, *(schedule(each, args=[argument], requirements={"Environment": name}) for each in names))
    wanted = [f"schedule-{each}" for each in names]
    got: list[str] = []
    left, answers = wanted, 0
    while left:
        answer = await application.platform.container.get(DesiredState).work(link.id, WorkQuery(names=left))
        over_the_bus = await link.work(*left)
        assert set(over_the_bus) == {item.name for item in answer.items}
        got += [item.name for item in answer.items]
        left, answers = answer.left, answers + 1
    assert got == wanted
    assert answers > 1


async def test_a_stamp_changes_with_what_runs_and_with_nothing_else(
    application: Application, link: AgentLink, name: str
) -> None:
    requirements = {"Environment": name}

    async def item() -> tuple[str, str, datetime]:
        work = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
        return work.version, work.stamp, work.since

    await apply(application, schedule(name, requirements=requirements))
    first = await item()
    await apply(application, schedule(name, requirements=requirements))
    await apply(application, schedule(name, requirements=requirements, description="told"))
    assert await item() == first
    await apply(application, schedule(name, args=["1"], requirements=requirements))
    second = await item()
    assert (first[0], second[0]) == ("1", "2")
    assert second[1] != first[1]
    assert second[2] > first[2]
    await request(application, "stop", name)
    third = await item()
    assert third[0] == "2"
    assert third[1] != second[1]
    await apply(application, removal(name))
    await apply(application, schedule(name, args=["1"], requirements=requirements))
    again = await item()
    assert again[0] == "1"
    assert again[1] not in (first[1], second[1], third[1])


async def test_an_agent_is_told_of_what_changes_for_it_and_of_nothing_else(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    await until(lambda: _told(link, f"schedule-{name}"))
    link.told.clear()
    await apply(application, schedule(f"{name}-other", requirements={"Environment": "elsewhere"}))
    await apply(application, schedule(name, requirements={"Environment": "elsewhere"}))
    await until(lambda: _told(link, f"schedule-{name}"))
    assert f"schedule-{name}-other" not in str(link.told)
    assert f"schedule-{name}" not in await link.digest()


async def test_an_agent_that_changes_gets_other_work(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Team": name}))
    assert f"schedule-{name}" not in await link.digest()
    link.told.clear()
    link.capabilities = {"Team": name}
    await link.ping()
    await until(lambda: _told(link))
    changed = datetime.now(UTC)
    assert f"schedule-{name}" in await link.digest()
    item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
    assert timedelta() <= changed - item.since < timedelta(seconds=20)
    link.capabilities = {"Team": "other"}
    await link.ping()
    await until(lambda: _lost(link, f"schedule-{name}"))


async def test_a_deprecated_agent_has_no_work(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    assert f"schedule-{name}" in await link.work(f"schedule-{name}")
    await application.admin.post(f"/agents/{link.id}/deprecate")
    assert await link.digest() == {}
    assert await link.work(f"schedule-{name}") == {}
    await application.admin.put(f"/agents/{link.id}/status?statusEnum=2")
    assert f"schedule-{name}" in await link.digest()


async def test_an_agent_can_neither_ask_for_another_nor_read_its_answers(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    async with linked_agent(application, f"spy-{name}") as spy:
        query = encode(WorkQuery(names=[f"schedule-{name}"]))
        with pytest.raises(Forbidden):
            await spy.bus.request(subjects.ask(link.id, subjects.WORK), query)
        for subject in (subjects.changed(link.id), f"{subjects.inbox(link.id)}.>", subjects.report("*", "flows")):
            with pytest.raises(Forbidden):
                await spy.bus.subscribe(subject, _ignore)
        with pytest.raises(Forbidden):
            await spy.bus.publish(subjects.report(link.id, subjects.FLOWS), b"{}")
        assert await spy.work(f"schedule-{name}") == {}


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"Names":"x"}', b'{"Names":[1]}', b'{"Other":[]}'])
async def test_a_question_that_cannot_be_read_is_refused(link: AgentLink, body: bytes) -> None:
    with pytest.raises((Invalid, PenstockError)) as refused:
        await link.bus.request(subjects.ask(link.id, subjects.WORK), body)
    assert not isinstance(refused.value, Unavailable)


async def test_an_agent_gets_the_variables_that_its_flows_refer_to(
    application: Application, link: AgentLink, name: str
) -> None:
    used, unused, foreign = f"{name}.used", f"{name}.unused", f"{name}.foreign"
    await apply(
        application,
        *(
            {
                "apiVersion": "penstock/v1alpha1",
                "kind": "Variable",
                "metadata": {"name": variable},
                "spec": {"value": f"value of {variable}", "isSecret": True},
            }
            for variable in (used, unused, foreign)
        ),
        schedule(name, args=[reference(used), reference(f"{name}.missing")], requirements={"Environment": name}),
        schedule(f"{name}-2", args=[reference(foreign)], requirements={"Environment": "elsewhere"}),
    )
    answer = await link.variables(used.upper(), unused, foreign, f"{name}.missing")
    assert {key: (found.value, found.is_secret) for key, found in answer.values.items()} == {
        used.upper(): (f"value of {used}", True)
    }


# Requests


async def test_start_and_stop_set_what_is_requested_and_repeat_harmlessly(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    assert [await request(application, "stop", name) for _ in range(2)] == [202, 202]
    assert (await flow(application, name))["RequestedStatus"] == 0
    stopped = await link.digest()
    assert [await request(application, "start", name.upper()) for _ in range(2)] == [202, 202]
    assert (await flow(application, name))["RequestedStatus"] == 1
    assert stopped[f"schedule-{name}"] != (await link.digest())[f"schedule-{name}"]


async def test_starts_and_stops_at_the_same_time_are_all_answered(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    answers = await asyncio.gather(*(request(application, what, name) for what in ("stop", "start") * 5))
    assert answers == [202] * 10


async def test_a_stopped_flow_stays_stopped_when_it_is_changed(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    await request(application, "stop", name)
    await apply(application, schedule(name, args=["2"]))
    found = await flow(application, name)
    assert (found["RequestedStatus"], found["Version"], found["Status"]) == (0, "2", "Stopped")


async def test_a_deleted_flow_is_gone_until_its_schedule_is_applied_again(
    application: Application, link: AgentLink, name: str
) -> None:
    document = schedule(name, requirements={"Environment": name})
    await apply(application, document)
    await link.report_state(f"schedule-{name}", RUNNING)
    deleted = await application.operator.delete(f"/integrations/flows/schedule-{name}")
    assert (deleted.status_code, deleted.content) == (202, b"")
    assert f"schedule-{name}" not in await link.digest()
    assert (await application.operator.delete(f"/integrations/flows/schedule-{name}")).status_code == 404
    await apply(application, document)
    assert f"schedule-{name}" in await link.digest()


async def test_an_unknown_flow_is_not_found(application: Application, name: str) -> None:
    for path in ("", "/status", "/logs?count=1"):
        answer = await application.reader.get(f"/integrations/flows/schedule-{name}{path}")
        assert answer.status_code == 404
    assert await request(application, "start", name) == 404
    assert await request(application, "stop", name) == 404
    assert (await application.operator.post("/integrations/flows/start")).status_code == 400


async def test_a_flow_is_shown_with_all_that_belongs_to_it(application: Application, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": "prod", "Region": "eu"}))
    answer = await application.reader.get(f"/integrations/flows/SCHEDULE-{name}")
    found = answer.json()
    assert (found["Name"], found["Version"], found["Category"]) == (f"schedule-{name}", "1", "Schedule")
    assert [(r["Identifier"], r["Value"]) for r in found["Requirements"]] == [("Environment", "prod"), ("Region", "eu")]


# States


async def test_counts_and_status_follow_what_agents_report(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    async with linked_agent(application, f"second-{name}", {"Environment": name}) as second:

        async def counts(running: int, error: int, stopped: int, unknown: int) -> bool:
            await link.ping()
            await second.ping()
            found = await flow(application, name)
            names = ("RunningCount", "ErrorCount", "StoppedCount", "UnknownCount")
            return [found[each] for each in names] == [running, error, stopped, unknown]

        await until(lambda: counts(0, 0, 0, 2))
        await link.report_state(f"schedule-{name}", RUNNING)
        await until(lambda: counts(1, 0, 0, 1))
        assert (await flow(application, name))["Status"] == "Running on 1 of 2 agents"
        await second.report_state(f"schedule-{name}", ERROR, message="no such program")
        await until(lambda: counts(1, 1, 0, 0))
        assert (await flow(application, name))["Status"] == "Error on 1 of 2 agents"
        await second.report_state(f"schedule-{name}", RUNNING)
        await until(lambda: counts(2, 0, 0, 0))
        assert (await flow(application, name))["Status"] == "Running"
        listed = (await application.reader.get(f"/integrations/flows/schedule-{name}/status")).json()
        assert {each["AgentId"] for each in listed} == {str(link.id), str(second.id)}
        assert {each["Status"] for each in listed} == {0}


async def test_an_agent_that_is_offline_counts_as_unknown(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    await link.report_state(f"schedule-{name}", RUNNING)

    async def unknown(count: int) -> bool:
        return (await flow(application, name))["UnknownCount"] == count

    async def running() -> bool:
        await link.ping()
        return (await flow(application, name))["RunningCount"] == 1

    await until(running)
    await until(lambda: unknown(1))
    await until(running)


async def test_reports_that_come_late_or_again_change_nothing(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    now = datetime.now(UTC)

    async def status() -> tuple[int, str]:
        await link.ping()
        [found] = (await application.reader.get(f"/integrations/flows/schedule-{name}/status")).json()
        return found["Status"], found["UpdateTime"]

    async def is_stopped() -> bool:
        return (await status())[0] == STOPPED

    await link.report_state(f"schedule-{name}", STOPPED, at=now)
    await until(is_stopped)
    before = await status()
    await link.report_state(f"schedule-{name}", RUNNING, at=now - timedelta(seconds=5))
    await link.report_state(f"schedule-{name}", RUNNING, at=now)
    await _everything_is_taken(application, link, name)
    assert await status() == before


async def test_a_flow_that_an_agent_no_longer_has_is_unknown_there(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    await link.report_state(f"schedule-{name}", RUNNING)
    await link.report_state(f"schedule-{name}", STOPPED, removed=True)

    async def unknown() -> bool:
        await link.ping()
        [found] = (await application.reader.get(f"/integrations/flows/schedule-{name}/status")).json()
        return bool(found["Status"] == 3)

    await until(unknown)


async def test_unreadable_reports_and_reports_on_unknown_flows_do_not_hold_up_others(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    for body in (b"", b"nonsense", b'{"States":[{"Name":1}]}', b"\xff\xfe"):
        await link.bus.publish(subjects.report(link.id, subjects.FLOWS), body)
    now = datetime.now(UTC)
    await link.report_states(
        FlowState(name="schedule-unknown", version="1", status=RUNNING, at=now),
        FlowState(name="a\0b", version="1", status=RUNNING, at=now),
        FlowState(name=f"schedule-{name}", version="1", status=RUNNING, at=now),
    )

    async def running() -> bool:
        await link.ping()
        return (await flow(application, name))["RunningCount"] == 1

    await until(running)


# Flows that no agent matches


async def test_a_flow_without_matching_agent_says_what_it_needs_and_raises_one_event(
    application: Application, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name, "OS": "plan9"}))
    assert (await flow(application, name))["Status"] == f"No matching agent: needs Environment={name}, OS=plan9"
    needs = f"Environment={name}, OS=plan9"
    assert await events_of(application, name) == [("flows.unmatched", f"no agent matches: needs {needs}")]
    async with linked_agent(application, f"late-{name}", {"Environment": name, "OS": "plan9"}) as late:
        await until(lambda: _events(application, name, 2))
        assert f"schedule-{name}" in await late.work(f"schedule-{name}")
        await application.admin.post(f"/agents/{late.id}/deprecate")
        await until(lambda: _events(application, name, 3))
    assert [kind for kind, _ in await events_of(application, name)] == [
        "flows.unmatched",
        "flows.matched",
        "flows.unmatched",
    ]


async def test_a_stopped_flow_raises_its_event_when_it_is_started(application: Application, name: str) -> None:
    async with linked_agent(application, f"agent-{name}", {"Environment": name}) as link:
        await apply(application, schedule(name, requirements={"Environment": name}))
        await request(application, "stop", name)
        await application.admin.post(f"/agents/{link.id}/deprecate")

        async def unmatched() -> bool:
            stored = await application.platform.container.get(FlowCatalog).stored([f"schedule-{name}"])
            return stored[f"schedule-{name}"].unmatched_since is not None

        await until(unmatched)
        assert await events_of(application, name) == []
        await request(application, "start", name)
        assert [kind for kind, _ in await events_of(application, name)] == ["flows.unmatched"]


# Logs


def line(name: str, message: str, **fields: Any) -> LogLine:
    fields.setdefault("id", uuid4())
    fields.setdefault("at", datetime.now(UTC))
    fields.setdefault("level", "INFO")
    return LogLine(flow=f"schedule-{name}", message=message, **fields)


async def logged(application: Application, **query: Any) -> list[str]:
    answer = await application.reader.get("/integrations/logs", params=query)
    assert answer.status_code == 200, answer.text
    return [item["Message"] for item in answer.json()]


async def test_log_lines_are_found_by_every_filter(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    flow_name = f"schedule-{name}"
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    failed = line(
        name,
        "three",
        at=begin + timedelta(minutes=3),
        level="ERROR",
        exchange_id=f"x-{name}",
        exception_type="IOError",
        exception_message="disk full",
        stack_trace="at line 3",
        context={"Key": "kept as it is"},
    )
    others = [line(name, word, at=begin + timedelta(minutes=at)) for at, word in ((1, "one"), (2, "two"))]
    await link.report_lines(*others, failed)
    await until(lambda: _logged(application, 3, IntegrationName=flow_name))

    async def found(**query: Any) -> list[str]:
        return await logged(application, IntegrationName=flow_name.upper(), **query)

    assert await found() == ["three", "two", "one"]
    assert await found(LogLevel="error") == ["three"]
    assert await found(LogLevel="WARN") == []
    assert await found(FromDate="2026-01-01T00:02:00Z") == ["three", "two"]
    assert await found(ToDate="2026-01-01T00:02:00Z") == ["one"]
    assert await found(Count=2) == ["three", "two"]
    assert await found(Count=2, Skip=2) == ["one"]
    assert await found(IntegrationType="Schedule", AgentId=str(link.id), Environment=name) == ["three", "two", "one"]
    assert await found(IntegrationType="flow") == []
    assert await found(AgentId=str(uuid4())) == []
    assert await found(AgentId="a\0b") == []
    assert await logged(application, ExchangeId=f"x-{name}") == ["three"]
    [item] = (await application.reader.get("/integrations/logs", params={"ExchangeId": f"x-{name}"})).json()
    assert (item["Agent"], item["Environment"], item["Stacktrace"]) == (f"agent-{name}", name, "at line 3")
    assert item["Context"] == {"Key": "kept as it is"}
    [latest] = (await application.reader.get(f"/integrations/flows/{flow_name}/logs", params={"count": 1})).json()
    assert (latest["Id"], latest["ExceptionMessage"], latest["LogLevel"]) == (str(failed.id), "disk full", "ERROR")


async def test_a_page_of_logs_links_to_the_next(application: Application, link: AgentLink, name: str) -> None:
    await link.report_lines(*(line(name, str(number)) for number in range(3)))
    query = {"IntegrationName": f"schedule-{name}", "Count": 2}
    await until(lambda: _logged(application, 2, **query))

    async def following() -> str:
        answer = await application.reader.get("/integrations/logs", params=query)
        return str(answer.links.get("next", {}).get("url", ""))

    assert "Skip=2" in await until(following)


async def test_log_reports_that_come_again_are_kept_once_and_agents_cannot_suppress_each_other(
    application: Application, link: AgentLink, name: str
) -> None:
    same = line(name, "told")
    async with linked_agent(application, f"second-{name}") as second:
        for agent in (link, link, second):
            await agent.report_lines(same)
        await until(lambda: _logged(application, 2, IntegrationName=f"schedule-{name}"))
        await link.report_lines(line(name, "last"))
        await until(lambda: _logged(application, 3, IntegrationName=f"schedule-{name}"))
    agents = [
        item["Agent"]
        for item in (
            await application.reader.get(
                "/integrations/logs", params={"IntegrationName": f"schedule-{name}", "ToDate": "2100-01-01"}
            )
        ).json()
    ]
    assert sorted(agents) == [f"agent-{name}", f"agent-{name}", f"second-{name}"]


@pytest.mark.parametrize(
    "query", ["Count=-1", "Count=1001", "Skip=-1", "FromDate=yesterday", "Level=INFO", "Count=1&Count=2"]
)
async def test_bad_log_queries_are_refused(application: Application, query: str) -> None:
    assert (await application.reader.get(f"/integrations/logs?{query}")).status_code == 400


# Faults


async def test_reports_are_taken_after_the_bus_was_killed(tmp_path: Path, name: str) -> None:
    async with (
        running_application(tmp_path) as application,
        linked_agent(application, f"agent-{name}", {"Environment": name}) as link,
    ):
        await apply(application, schedule(name, requirements={"Environment": name}))
        for number in range(20):
            await link.report_lines(line(name, str(number)))
            if number == 10:
                await _kill_bus(application)
        await until(lambda: _logged(application, 20, IntegrationName=f"schedule-{name}", Count=100))
        assert f"schedule-{name}" in await link.digest()


async def test_two_replicas_share_the_work_and_agree(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as first:
        first.reader = first.operator = first.admin  # the second start makes the other users anew
        nats = first.platform.nats
        assert nats is not None
        shared = {"PENSTOCK_NATS_URL": nats.url, "PENSTOCK_NATS_KEYS": str(tmp_path / "bus-keys.json")}
        async with (
            running_application(tmp_path, **shared) as second,
            linked_agent(first, f"agent-{name}", {"Environment": name}) as link,
        ):
            for number in range(10):
                target = (first, second)[number % 2]
                await apply(target, schedule(f"{name}-{number}", requirements={"Environment": name}))
                assert f"schedule-{name}-{number}" in await link.digest()
            await link.report_lines(*(line(f"{name}-1", str(number)) for number in range(50)))
            query = {"IntegrationName": f"schedule-{name}-1", "Count": 1000}
            await until(lambda: _logged(first, 50, **query))
            await until(lambda: _logged(second, 50, **query))
            await first.admin.post(f"/agents/{link.id}/deprecate")
            await until(lambda: _events(first, f"{name}-1", 1))
            for application in (first, second):
                await application.platform.container.get(Coverage).check()
            assert len(await events_of(first, f"{name}-1")) == 1


async def test_what_is_desired_is_the_same_after_a_restart(tmp_path: Path, name: str) -> None:
    capabilities = {"Environment": name}
    async with running_application(tmp_path) as application:
        _, credential = await register(application, f"agent-{name}", capabilities)
        await apply(application, schedule(name, requirements=capabilities))
        async with reconnected_agent(application, credential, capabilities) as link:
            before = await link.digest()
    async with (
        running_application(tmp_path) as application,
        reconnected_agent(application, credential, capabilities) as link,
    ):
        assert await link.digest() == before != {}


async def _kill_bus(application: Application) -> None:
    nats, bus = application.platform.nats, application.platform.container.get(Bus)
    assert nats is not None
    assert nats.pid is not None
    os.kill(nats.pid, signal.SIGKILL)
    await until(lambda: _is(lambda: not bus.connected))
    await until(lambda: _is(lambda: bus.connected))


async def _is(condition: Callable[[], bool]) -> bool:
    return condition()


async def _ignore(_: object) -> None:
    return None


async def _told(link: AgentLink, flow: str | None = None) -> bool:
    return any(flow in names if flow else not names for names in link.told)


async def _lost(link: AgentLink, flow: str) -> bool:
    return flow not in await link.digest()


async def _logged(application: Application, count: int, **query: Any) -> bool:
    return len(await logged(application, **query)) == count


async def _events(application: Application, name: str, count: int) -> bool:
    return len(await events_of(application, name)) == count


async def _everything_is_taken(application: Application, link: AgentLink, name: str) -> None:
    """Reports before this one have been taken: it comes after them in the same consumer."""
    await apply(application, schedule(f"{name}-after", requirements={"Environment": name}))
    await link.report_state(f"schedule-{name}-after", RUNNING)

    async def running() -> bool:
        await link.ping()
        return (await flow(application, f"{name}-after"))["RunningCount"] == 1

    await until(running)
