"""The agent as a process, against the protocol's other side on a real bus."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.protocol.report import IntegrationFlowStatusEnum, TickOutcome
from tests.conformance.agent_process import agent_process
from tests.conformance.agent_servers import Servers, running_servers
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        yield servers


async def test_an_agent_registers_pings_and_runs_a_schedule(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("hello", "* * * * * *", "echo", "hello there")
    async with agent_process(servers, tmp_path / "agent", CAPABILITIES="Region=eu") as agent:
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.finished) >= 2)
        told = servers.of_agent

        assert await agent.stop() == 0
    status = told.status("schedule-hello")
    assert status is not None
    assert status.status is IntegrationFlowStatusEnum.RUNNING
    assert {tick.outcome for tick in told.ticks} == {TickOutcome.FIRED}
    assert {run.exit_code for run in told.finished} == {0}
    assert {run.output for run in told.finished} == {"hello there\n"}
    assert [run.due for run in told.started] == [tick.due for tick in told.ticks]
    assert [run.due for run in told.finished] == [tick.due for tick in told.ticks]
    assert {run.schedule for run in told.finished} == {"hello"}
    capabilities = {each.identifier: each.value for each in told.pings[-1].capabilities or []}
    assert capabilities["Region"] == "eu"
    assert capabilities["OS"] == "Linux"
