"""How an agent follows what the servers want of it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.protocol.report import IntegrationFlowStatusEnum, TickOutcome
from penstock.protocol.work import VariableValue
from tests.conformance.agent_process import AgentProcess, running_agent
from tests.conformance.agent_servers import Servers, Told, running_servers
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)

RUNNING, ERROR, STOPPED = (
    IntegrationFlowStatusEnum.RUNNING,
    IntegrationFlowStatusEnum.ERROR,
    IntegrationFlowStatusEnum.STOPPED,
)


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        servers.resync_seconds = 3600.0  # an agent that is not told of a change does not look for it in time
        yield servers


@pytest.fixture
async def agent(servers: Servers, tmp_path: Path) -> AsyncIterator[AgentProcess]:
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.pings) and servers.digests > 0)
        yield agent


def is_in(told: Told, flow: str, status: IntegrationFlowStatusEnum) -> bool:
    state = told.status(flow)
    return state is not None and state.status is status


async def test_a_flow_is_started_when_the_agent_is_told_of_it(servers: Servers, agent: AgentProcess) -> None:
    item = servers.schedule("job", "* * * * * *", "true")
    await servers.tell(item.name)
    await eventually(lambda: bool(servers.of_agent.finished))

    assert servers.of_agent.finished[0].version == item.version


async def test_a_flow_is_stopped_and_its_ticks_are_skipped(servers: Servers, agent: AgentProcess) -> None:
    item = servers.schedule("job", "* * * * * *", "true")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.ticks))
    servers.request(item.name, started=False)
    await servers.tell(item.name)
    await eventually(lambda: is_in(servers.of_agent, item.name, STOPPED))
    await asyncio.sleep(2.1)  # due times pass
    servers.request(item.name, started=True)
    await servers.tell(item.name)
    ticks = servers.of_agent.ticks
    await eventually(
        lambda: ticks[-1].outcome is TickOutcome.FIRED and TickOutcome.SKIPPED in [t.outcome for t in ticks]
    )

    [skipped] = [tick for tick in ticks if tick.outcome is TickOutcome.SKIPPED]
    assert skipped.reason == "stopped"
    assert skipped.count >= 2
    assert_each_second_once(servers.of_agent)


async def test_a_new_version_takes_over_without_losing_a_tick(servers: Servers, agent: AgentProcess) -> None:
    first = servers.schedule("job", "* * * * * *", "echo", "one")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.ticks))
    second = servers.schedule("job", "* * * * * *", "echo", "two")
    await servers.tell()
    await eventually(lambda: "two\n" in [run.output for run in servers.of_agent.finished])

    told = servers.of_agent
    assert_each_second_once(told)
    assert {tick.version for tick in told.ticks} == {first.version, second.version}


async def test_a_removed_flow_ends_and_is_told_removed(servers: Servers, agent: AgentProcess) -> None:
    item = servers.schedule("job", "* * * * * *", "true")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.ticks))
    servers.remove(item.name)
    await servers.tell(item.name)
    await eventually(lambda: (state := servers.of_agent.status(item.name)) is not None and state.removed)
    count = len(servers.of_agent.ticks)
    await asyncio.sleep(1.5)  # due times of what is gone pass

    assert len(servers.of_agent.ticks) == count


async def test_a_broken_flow_is_told_with_its_problem_and_hurts_no_other(servers: Servers, agent: AgentProcess) -> None:
    broken = servers.put("broken", "- from: {uri: quartz:x, parameters: {cron: never}, steps: []}")
    good = servers.schedule("job", "* * * * * *", "true")
    await servers.tell()
    await eventually(lambda: is_in(servers.of_agent, broken.name, ERROR) and bool(servers.of_agent.finished))
    state = servers.of_agent.status(broken.name)
    assert state is not None
    assert "cron" in (state.message or "")

    servers.put("broken", good.spec)
    await servers.tell()
    await eventually(lambda: is_in(servers.of_agent, broken.name, RUNNING))


async def test_a_flow_that_cannot_start_is_tried_again_and_can_be_removed(servers: Servers, tmp_path: Path) -> None:
    spec = "- from: {uri: quartz:q, parameters: {cron: '{{var:when}}'}, steps: [{log: x}]}"
    servers.resync_seconds = 0.3
    item, other = servers.put("job", spec), servers.put("other", spec.replace("when", "never"))
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: bool(servers.credentials) and is_in(servers.of_agent, item.name, ERROR))
        state = servers.of_agent.status(item.name)
        assert state is not None
        assert "variable 'when' does not exist" in (state.message or "")

        servers.variables["when"] = VariableValue(value="* * * * * *", is_secret=False)
        await eventually(lambda: is_in(servers.of_agent, item.name, RUNNING) and bool(servers.of_agent.ticks))
        servers.remove(other.name)
        await eventually(lambda: (gone := servers.of_agent.status(other.name)) is not None and gone.removed)
    assert [told.status for told in servers.of_agent.states if told.name == item.name] == [ERROR, RUNNING]


async def test_a_command_that_does_not_exist_is_a_failed_run(servers: Servers, agent: AgentProcess) -> None:
    servers.schedule("job", "* * * * * *", "no-such-command")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.finished))

    run = servers.of_agent.finished[0]
    assert (run.exit_code, run.error) == (None, "command 'no-such-command' does not exist on this agent")


async def test_variables_are_asked_of_the_servers(servers: Servers, agent: AgentProcess) -> None:
    servers.variables["word"] = VariableValue(value="hello", is_secret=False)
    servers.schedule("job", "* * * * * *", "echo", "{{var:word}}")
    await servers.tell()
    await eventually(lambda: len(servers.of_agent.finished) >= 2)

    assert {(run.error, run.output) for run in servers.of_agent.finished} == {(None, "hello\n")}
    assert servers.variable_questions == [["word"]], "asked once in five seconds"


async def test_a_secret_reaches_neither_disk_nor_log(servers: Servers, agent: AgentProcess) -> None:
    servers.variables["key"] = VariableValue(value="s3cr3t-value", is_secret=True)
    servers.put(
        "job",
        "- from: {uri: quartz:j, parameters: {cron: '* * * * * *'}, steps: [{log: 'key is {{var:key}}'}]}",
    )
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.lines))
    await agent.stop()

    assert "s3cr3t-value" not in servers.of_agent.lines[0].message
    written = [file for file in agent.folder.rglob("*") if file.is_file()]
    assert not [file for file in written if b"s3cr3t-value" in file.read_bytes()]
    assert "s3cr3t-value" not in agent.log


async def test_what_flows_log_is_reported(servers: Servers, agent: AgentProcess) -> None:
    servers.put("job", "- from: {uri: quartz:j, parameters: {cron: '* * * * * *'}, steps: [{log: hello}]}")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.lines))

    line = servers.of_agent.lines[0]
    assert (line.flow, line.level, line.message) == ("job", "INFO", "hello")
    assert line.exchange_id


async def test_answers_that_the_servers_did_not_sign_are_not_believed(servers: Servers, agent: AgentProcess) -> None:
    servers.forge = True
    servers.schedule("job", "* * * * * *", "true")
    await servers.tell()
    await eventually(lambda: "not signed by the servers" in agent.log)
    assert not servers.of_agent.states

    servers.forge = False
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.finished))


async def test_a_deprecated_agent_ends_its_work(servers: Servers, agent: AgentProcess) -> None:
    item = servers.schedule("job", "* * * * * *", "true")
    await servers.tell()
    await eventually(lambda: bool(servers.of_agent.ticks))
    await agent.stop()
    servers.refusal = 403
    ticks = len(servers.of_agent.ticks)
    await agent.start()
    await eventually(lambda: "no work for the agent" in agent.log)
    await asyncio.sleep(2)  # due times of what is not wanted any more pass
    servers.refusal = None
    del servers.items[item.name]
    await eventually(lambda: (state := servers.of_agent.status(item.name)) is not None and state.removed)

    assert len([tick for tick in servers.of_agent.ticks[ticks:] if tick.outcome is TickOutcome.FIRED]) <= 1


async def test_an_agent_that_is_not_told_finds_out_by_itself(servers: Servers, tmp_path: Path) -> None:
    servers.resync_seconds = 0.2
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.pings))
        servers.schedule("job", "* * * * * *", "true")

        await eventually(lambda: bool(servers.of_agent.finished))


async def test_an_expired_bus_credential_is_renewed_in_time(servers: Servers, tmp_path: Path) -> None:
    servers.bus_lives = timedelta(seconds=2)
    servers.schedule("job", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent"):
        begin = datetime.now(UTC)
        await eventually(
            lambda: (
                bool(servers.credentials)
                and bool(servers.of_agent.finished)
                and servers.of_agent.finished[-1].finished > begin + timedelta(seconds=5)
            )
        )

    assert_each_second_once(servers.of_agent)


async def test_thousands_of_flows_come_page_by_page(servers: Servers, agent: AgentProcess) -> None:
    servers.page = 300
    for number in range(1000):
        servers.schedule(f"job-{number}", "0 0 3 * * ?", "true")
    await servers.tell()
    await eventually(lambda: len({state.name for state in servers.of_agent.states}) == 1000)


def assert_each_second_once(told: Told) -> None:
    """Every second, from the first told of to the last, is in one report."""
    seconds: list[datetime] = []
    for tick in told.ticks:
        seconds += [tick.due + timedelta(seconds=number) for number in range(tick.count)]
        assert seconds[-1] == tick.last_due
    first = min(seconds)
    assert sorted(seconds) == [first + timedelta(seconds=number) for number in range(len(seconds))]
