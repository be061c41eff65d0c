"""How flows stand on agents, and flows that no agent matches."""

from datetime import UTC, datetime, timedelta

from penstock.areas.flows.catalog import FlowCatalog
from penstock.protocol import subjects
from penstock.protocol.report import FlowState, IntegrationFlowStatusEnum
from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.coverage_events import coverage_events
from tests.areas.scheduled import apply, flow, request, schedule
from tests.areas.waiting import until

RUNNING, ERROR, STOPPED = (
    IntegrationFlowStatusEnum.RUNNING,
    IntegrationFlowStatusEnum.ERROR,
    IntegrationFlowStatusEnum.STOPPED,
)


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
        assert (await flow(application, name))["Status"] == "Error on 1 of 2 agents: no such program"
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


async def test_a_flow_without_matching_agent_says_what_it_needs_and_raises_one_event(
    application: Application, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name, "OS": "plan9"}))
    assert (await flow(application, name))["Status"] == f"No matching agent: needs Environment={name}, OS=plan9"
    needs = f"Environment={name}, OS=plan9"
    assert await coverage_events(application, name) == [("flows.unmatched", f"no agent matches: needs {needs}")]
    async with linked_agent(application, f"late-{name}", {"Environment": name, "OS": "plan9"}) as late:
        await until(lambda: _events(application, name, 2))
        assert f"schedule-{name}" in await late.work(f"schedule-{name}")
        await application.admin.post(f"/agents/{late.id}/deprecate")
        await until(lambda: _events(application, name, 3))
    assert [kind for kind, _ in await coverage_events(application, name)] == [
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
        assert await coverage_events(application, name) == []
        await request(application, "start", name)
        assert [kind for kind, _ in await coverage_events(application, name)] == ["flows.unmatched"]


async def _events(application: Application, name: str, count: int) -> bool:
    return len(await coverage_events(application, name)) == count


async def _everything_is_taken(application: Application, link: AgentLink, name: str) -> None:
    """Reports before this one have been taken: it comes after them in the same consumer."""
    await apply(application, schedule(f"{name}-after", requirements={"Environment": name}))
    await link.report_state(f"schedule-{name}-after", RUNNING)

    async def running() -> bool:
        await link.ping()
        return (await flow(application, f"{name}-after"))["RunningCount"] == 1

    await until(running)
