"""The agent as a process: how it starts, registers, shows itself and stops."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from penstock.protocol.report import IntegrationFlowStatusEnum, TickOutcome
from tests.conformance.agent_process import AgentProcess, agent_process, running_agent
from tests.conformance.agent_servers import Servers, running_servers
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        yield servers


async def pinged(servers: Servers) -> None:
    await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.pings))


async def test_an_agent_registers_and_runs_a_schedule(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("hello", "* * * * * *", "echo", "hello there")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.finished) >= 2)
        told = servers.of_agent
        assert await agent.stop() == 0

    status = told.status("schedule-hello")
    assert status is not None
    assert status.status is IntegrationFlowStatusEnum.RUNNING
    assert {tick.outcome for tick in told.ticks} == {TickOutcome.FIRED}
    assert {(run.exit_code, run.output, run.schedule) for run in told.finished} == {(0, "hello there\n", "hello")}
    assert {run.command for run in told.started} == {"echo 'hello there'"}
    due = [tick.due for tick in told.ticks]
    assert [run.due for run in told.started] == due
    assert [run.due for run in told.finished] == due


async def test_a_ping_tells_what_the_agent_is_and_offers(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("hello", "* * * * * *", "true")
    async with running_agent(
        servers, tmp_path / "agent", CAPABILITIES="Region=eu", POOL="north", TIMEZONE="Asia/Tokyo"
    ):
        await pinged(servers)
        pings = servers.of_agent.pings
        await eventually(lambda: any(ping.integration_flow_status_list for ping in pings))

    first = pings[0]
    capabilities = {each.identifier: each.value for each in first.capabilities or []}
    assert (capabilities["Region"], capabilities["TimeZone"], capabilities["OS"]) == ("eu", "Asia/Tokyo", "Linux")
    assert (first.agent_id, first.agent_name, first.pool_name) == (servers.agent, "test-agent", "north")
    [status] = next(ping.integration_flow_status_list for ping in pings if ping.integration_flow_status_list)
    assert status.integration_name == "schedule-hello"
    assert status.state == "Running"


async def test_a_capability_added_in_the_folder_is_told(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent") as agent:
        await pinged(servers)
        (agent.folder / "capabilities.toml").write_text('Database = "orders"')
        await eventually(
            lambda: any(
                (each.identifier, each.value, each.is_custom) == ("Database", "orders", True)
                for each in servers.of_agent.pings[-1].capabilities or []
            )
        )


async def test_a_second_start_is_the_same_agent(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent") as agent:
        await pinged(servers)
        first = servers.agent
        await agent.stop()
        servers.of_agent.pings.clear()
        agent.settings["TOKEN"] = "spent"
        await agent.start()
        await pinged(servers)

        assert servers.agent == first


async def test_a_refused_token_ends_the_agent_with_the_reason(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent", TOKEN="token-of-another") as agent:
        assert await agent.ended() == 3

        assert "the token is not valid" in agent.log
        assert "token-of-another" not in agent.log


async def test_without_token_an_agent_that_is_not_registered_says_what_is_missing(
    servers: Servers, tmp_path: Path
) -> None:
    async with running_agent(servers, tmp_path / "agent", TOKEN="") as agent:
        assert await agent.ended() == 2

        assert "PENSTOCK_AGENT_TOKEN: must be set" in agent.log


async def test_bad_settings_are_all_told_by_name(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent", TIMEZONE="Mars/Base", COLOUR="red") as agent:
        assert await agent.ended() == 2

        assert "PENSTOCK_AGENT_COLOUR: is not a setting" in agent.log
        assert "PENSTOCK_AGENT_TIMEZONE: must be a time zone" in agent.log


async def test_a_folder_that_cannot_be_used_is_told_with_what_to_do(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async with running_agent(servers, tmp_path / "agent", FOLDER=str(tmp_path / "file" / "agent")) as agent:
        assert await agent.ended() == 4

        assert "PENSTOCK_AGENT_FOLDER names another" in agent.log
        assert "Traceback" not in agent.log


async def test_a_name_that_is_taken_is_told_with_what_to_do(servers: Servers, tmp_path: Path) -> None:
    servers.refusal = 409
    async with running_agent(servers, tmp_path / "agent") as agent:
        assert await agent.ended() == 3

        assert "PENSTOCK_AGENT_NAME" in agent.log


async def test_an_agent_that_is_given_another_address_of_the_servers_uses_that(
    servers: Servers, tmp_path: Path
) -> None:
    async with running_agent(servers, tmp_path / "agent") as agent:
        await pinged(servers)
        await agent.stop()
        identity = agent.folder / "identity.json"
        identity.write_text(identity.read_text().replace(servers.address, "http://127.0.0.1:9"))
        (agent.folder / "configuration.json").unlink()
        servers.of_agent.pings.clear()
        await agent.start()
        await pinged(servers)


async def test_a_token_file_is_waited_for_and_removed_once_the_agent_is_registered(
    servers: Servers, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    async with running_agent(servers, tmp_path / "agent", TOKEN="", TOKEN_FILE=str(file)) as agent:
        await eventually(lambda: "waiting for the registration token" in agent.log)
        file.write_text("token-1\n")
        await pinged(servers)

        assert not file.exists()


async def test_an_agent_that_waits_for_its_token_can_be_stopped(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent", TOKEN="", TOKEN_FILE=str(tmp_path / "token")) as agent:
        await eventually(lambda: "waiting for the registration token" in agent.log)

        assert await agent.stop() == 0


async def test_registration_is_tried_until_the_server_answers(servers: Servers, tmp_path: Path) -> None:
    servers.refusal = 503
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: "no answer from the server" in agent.log)
        servers.refusal = None
        await pinged(servers)


async def test_what_the_agent_keeps_is_for_its_user_alone(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent") as agent:
        await pinged(servers)

        assert stat.S_IMODE(agent.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((agent.folder / "identity.json").stat().st_mode) == 0o600
        assert stat.S_IMODE((agent.folder / "configuration.json").stat().st_mode) == 0o600


async def test_no_credential_is_logged(servers: Servers, tmp_path: Path) -> None:
    async with running_agent(servers, tmp_path / "agent", LOG_LEVEL="debug") as agent:
        await pinged(servers)
        await agent.stop()
        [credential] = servers.credentials
        configuration = (agent.folder / "configuration.json").read_text()

        assert "connected to the bus" in agent.log
        assert credential not in agent.log
        assert "token-1" not in agent.log
        assert not any(part in agent.log for part in configuration.split('"') if len(part) > 40)


async def test_a_folder_has_one_agent(servers: Servers, tmp_path: Path) -> None:
    async with (
        running_agent(servers, tmp_path / "agent"),
        agent_process(servers, tmp_path / "agent") as second,
    ):
        await pinged(servers)
        await second.start()

        assert await second.ended() == 4
        assert "Another agent uses the folder" in second.log


async def test_stopping_ends_all_that_the_agent_started(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("stubborn", "* * * * * *", "sh", "-c", "trap '' TERM; while true; do sleep 1; done")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.started) >= 2)
        children = psutil.Process(agent.pid).children(recursive=True)
        assert len(children) > 2

        assert await agent.stop() == 0
        assert not psutil.wait_procs(children, timeout=0)[1]
    told = servers.of_agent
    assert {run.run_id for run in told.finished} == {run.run_id for run in told.started}
    assert all(run.exit_code is None and "ended together with its flow" in (run.error or "") for run in told.finished)


async def test_commands_see_only_what_is_passed_on(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("env", "* * * * * *", "env")
    async with agent_process(servers, tmp_path / "agent", ENVIRONMENT_PASS="COLOUR,MISSING") as agent:
        agent.environment = {"COLOUR": "red", "PASSWORD": "hidden"}
        await agent.start()
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
    seen = dict(line.split("=", 1) for line in servers.of_agent.finished[0].output.splitlines())

    assert seen["COLOUR"] == "red"
    assert seen["PATH"] == os.environ["PATH"]
    assert "PASSWORD" not in seen
    assert not [name for name in seen if name.startswith("PENSTOCK_AGENT_") and name != "PENSTOCK_AGENT_RUN"]


@asynccontextmanager
async def started_by_a_shell(agent: AgentProcess) -> AsyncIterator[tuple[psutil.Process, psutil.Process]]:
    """The shell and the agent that it has started."""
    pid = agent.folder.parent / "pid"
    script = f"{sys.executable} -m penstock.agent 2>>agent.log & echo $! >{pid}; wait"
    shell = await asyncio.create_subprocess_exec(
        "sh", "-c", script, env=agent.variables, cwd=agent.folder.parent, stdin=asyncio.subprocess.DEVNULL
    )
    await eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
    process = psutil.Process(int(pid.read_text()))
    try:
        yield psutil.Process(shell.pid), process
    finally:
        if process.is_running():
            process.kill()
        await shell.wait()


async def test_an_agent_may_end_with_its_parent(servers: Servers, tmp_path: Path) -> None:
    async with (
        agent_process(servers, tmp_path / "agent", WITH_PARENT="1") as agent,
        started_by_a_shell(agent) as (shell, process),
    ):
        await pinged(servers)
        shell.kill()

        await asyncio.to_thread(process.wait, 15)


async def test_an_agent_that_is_on_its_own_survives_its_parent(servers: Servers, tmp_path: Path) -> None:
    async with (
        agent_process(servers, tmp_path / "agent") as agent,
        started_by_a_shell(agent) as (shell, process),
    ):
        await pinged(servers)
        shell.kill()
        await asyncio.to_thread(shell.wait, 15)
        servers.of_agent.pings.clear()
        await pinged(servers)

        assert process.is_running()
