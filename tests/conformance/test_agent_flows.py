"""The life of flows on a real agent: files, versions, crashes, floods of log lines, kills."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import msgspec
import psutil
import pytest

from penstock.protocol.report import IntegrationFlowStatusEnum, LogLine
from penstock.protocol.status import IntegrationStatus
from penstock.protocol.work import FlowFile, VariableValue, WorkItem
from tests.conformance.agent_process import running_agent
from tests.conformance.agent_servers import Servers, running_servers
from tests.foreign_nats import PASSWORD, USER, foreign_nats
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)

RUNNING, ERROR, UNKNOWN = (
    IntegrationFlowStatusEnum.RUNNING,
    IntegrationFlowStatusEnum.ERROR,
    IntegrationFlowStatusEnum.UNKNOWN,
)


HEARING = """
- from:
    uri: nats:orders
    parameters: {servers: "{{var:nats}}", maxReconnectAttempts: 1, reconnectTimeWait: 10}
    steps:
      - log: "${body}"
"""


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        yield servers


def timer(*steps: str, period: int = 200, name: str = "t") -> str:
    indented = "".join(f"      - {step}\n" for step in steps)
    return f"- from:\n    uri: timer:{name}\n    parameters: {{period: {period}}}\n    steps:\n{indented}"


def changed(servers: Servers, item: WorkItem, **fields: object) -> None:
    servers.items[item.name] = msgspec.structs.replace(item, **fields)


def latest(servers: Servers, flow: str) -> IntegrationStatus | None:
    told = [
        status
        for ping in servers.of_agent.pings
        for status in ping.integration_flow_status_list or ()
        if status.integration_name == flow
    ]
    return told[-1] if told else None


async def status_is(servers: Servers, flow: str, status: IntegrationFlowStatusEnum) -> None:
    def there() -> bool:
        state = servers.of_agent.status(flow) if servers.credentials else None
        return state is not None and state.status is status

    await eventually(there)


async def test_a_flows_own_variables_come_before_the_platforms_and_may_name_them(
    servers: Servers, tmp_path: Path
) -> None:
    servers.variables["Host"] = VariableValue(value="platform", is_secret=False)
    servers.variables["Password"] = VariableValue(value="s3cr3t", is_secret=True)
    item = servers.put("job", timer("log: '{{var:Url}} {{var:HOST}} {{var:Port}} {{var:Key}}'"))
    own = {"Url": "https://{{var:Host}}/x", "host": "own", "Port": 8080, "Key": "k-{{var:Password}}"}
    changed(servers, item, variables=own)
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.lines))
        message = servers.of_agent.lines[0].message
    assert message.startswith("https://platform/x own 8080 ")
    assert "s3cr3t" not in message


async def test_files_are_laid_out_in_the_flows_folder_and_change_with_its_version(
    servers: Servers, tmp_path: Path
) -> None:
    first, second = b"first" * 200_000, b"second"
    for content in (first, second):
        servers.contents[sha256(content).hexdigest()] = content
    item = servers.put("job", timer("log: hello"))
    changed(servers, item, files=[_file("data.txt", first)])
    async with running_agent(servers, tmp_path / "agent") as agent:
        await status_is(servers, "job", RUNNING)
        await eventually(lambda: (status := latest(servers, "job")) is not None and status.statistics is not None)
        told = latest(servers, "job")
        assert told is not None
        folder = Path(told.working_directory or "")
        assert (folder / "data.txt").read_bytes() == first
        assert Path(told.integration_file_path or "").read_text() == item.spec
        changed(servers, servers.put("job", item.spec, version="2"), files=[_file("data.txt", second)])
        await servers.tell("job")
        await eventually(lambda: servers.of_agent.states[-1].version == "2")
        await eventually(lambda: not folder.exists())
        [now] = (agent.folder / "flows" / "job").glob("*/files/data.txt")
        assert now.read_bytes() == second


def _file(name: str, content: bytes) -> FlowFile:
    return FlowFile(name=name, sha256=sha256(content).hexdigest(), size=len(content))


async def test_a_new_version_takes_over_and_the_counts_go_on(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("log: one"), version="1")
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.lines) > 2)
        servers.put("job", timer("log: two"), version="2")
        await servers.tell("job")
        await eventually(lambda: servers.of_agent.lines[-1].message == "two")

        def reloaded() -> bool:
            status = latest(servers, "job")
            return status is not None and status.statistics is not None and status.statistics.reloaded == 1

        await eventually(reloaded)
        state = servers.of_agent.status("job")
        assert state is not None
        assert (state.version, (state.engine or "").split()[0]) == ("2", "penstock")
        status = latest(servers, "job")
        assert status is not None
        assert status.statistics is not None
        assert status.statistics.exchanges_total > 2
        assert (status.log_messages or [])[0].message in ("one", "two")


async def test_the_lines_of_one_exchange_carry_its_id(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("log: begin", "log: end"))
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.lines) >= 6)
    lines = servers.of_agent.lines
    for begin, end in zip(lines[0:6:2], lines[1:6:2], strict=True):
        assert (begin.message, end.message, begin.exchange_id) == ("begin", "end", end.exchange_id)
    assert len({line.exchange_id for line in lines[:6]}) == 3


async def test_a_flow_that_floods_its_log_is_bounded_and_says_how_much_was_dropped(
    servers: Servers, tmp_path: Path
) -> None:
    servers.put("loud", timer(*(f"log: line {number}" for number in range(200)), period=5))
    servers.put("quiet", timer("log: still here", period=500))
    async with running_agent(servers, tmp_path / "agent"):
        await eventually(lambda: any("were dropped" in line.message for line in _lines(servers, "loud")), 30)
        before = len(_lines(servers, "quiet"))
        await eventually(lambda: len(_lines(servers, "quiet")) > before)
    told = next(line for line in _lines(servers, "loud") if "were dropped" in line.message)
    assert int(told.message.split()[0]) > 0
    assert told.level == "WARN"
    assert not [line for line in _lines(servers, "quiet") if "dropped" in line.message]


def _lines(servers: Servers, flow: str) -> list[LogLine]:
    return [line for line in servers.of_agent.lines if line.flow == flow] if servers.credentials else []


async def test_a_flow_that_needs_camel_says_for_what_and_how_to_get_it(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("to: 'kafka:orders'"))
    async with running_agent(servers, tmp_path / "agent"):
        await status_is(servers, "job", ERROR)
        state = servers.of_agent.status("job")
        assert state is not None
        assert "line 5: component 'kafka'" in (state.message or "")
        assert "penstock engine install camel" in (state.message or "")


async def test_a_flow_that_does_not_start_tells_why_in_its_log_once(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("log: '{{var:x}}'", name="'{{var:missing}}'"))
    async with running_agent(servers, tmp_path / "agent"):
        await status_is(servers, "job", ERROR)
        state = servers.of_agent.status("job")
        assert state is not None
        assert "variable 'missing' does not exist" in (state.message or "")


async def test_flows_of_a_killed_agent_end_and_run_again_when_it_is_back(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("to: {uri: exec:sleep, parameters: {args: '1000'}}", period=60000))
    servers.put("log", timer("log: tick"))
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.started))
        children = [child for child in psutil.Process(agent.pid).children(recursive=True) if child.name() == "sleep"]
        assert children
        await agent.kill()
        assert not (await asyncio.to_thread(psutil.wait_procs, children, 10))[1]
        lines, started = len(servers.of_agent.lines), len(servers.of_agent.started)
        await agent.start()
        await eventually(lambda: len(servers.of_agent.lines) > lines)
        await eventually(lambda: len(servers.of_agent.started) > started)


async def test_two_agents_never_share_a_folder(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent") as first:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.pings))
        async with running_agent(servers, tmp_path / "agent") as second:
            assert await second.ended() == 4
            assert "Another agent uses the folder" in second.log
        assert await first.stop() == 0


async def test_a_flow_that_crashes_says_why_and_is_started_again(servers: Servers, tmp_path: Path) -> None:
    async with foreign_nats(tmp_path / "nats") as other:
        address = other.url.replace("nats://", f"nats://{USER}:{PASSWORD.replace(' ', '%20')}@")
        servers.variables["nats"] = VariableValue(value=address, is_secret=True)
        servers.put("job", HEARING)
        async with running_agent(servers, tmp_path / "agent", ALLOW_PRIVATE_ADDRESSES="true"):
            await status_is(servers, "job", RUNNING)
            await other.stop()
            await status_is(servers, "job", UNKNOWN)
            state = servers.of_agent.status("job")
            assert state is not None
            assert (state.message or "").startswith("crashed (1 of 5), starts again in 1 s: ")
            await other.start()
            await status_is(servers, "job", RUNNING)
    assert any("crashed (1 of 5)" in line.message and line.level == "ERROR" for line in servers.of_agent.lines)


async def test_a_flow_that_is_to_be_stopped_is_stopped_whatever_it_lacks(servers: Servers, tmp_path: Path) -> None:
    servers.put("job", timer("to: 'kafka:orders'"))
    async with running_agent(servers, tmp_path / "agent"):
        await status_is(servers, "job", ERROR)
        servers.request("job", started=False)
        await servers.tell("job")
        await status_is(servers, "job", IntegrationFlowStatusEnum.STOPPED)
        state = servers.of_agent.status("job")
        assert state is not None
        assert state.message is None
