"""What an agent makes of kills, outages and a full disk: nothing is lost, nothing is told twice, nothing is left."""

import asyncio
import os
import random
import resource
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.protocol.report import TickOutcome
from penstock.protocol.work import VariableValue
from tests.conformance.agent_process import running_agent
from tests.conformance.agent_servers import Servers, Told, running_servers
from tests.nats_server import NatsServer, eventually

SECOND = timedelta(seconds=1)


class Broker:
    """A bus server of one test, which it may take away."""

    def __init__(self, folder: Path) -> None:
        self.keys = BusKeys.generate()
        self.server = EmbeddedServer(folder, self.keys)

    def kill(self) -> None:
        assert self.server.pid is not None
        os.kill(self.server.pid, signal.SIGKILL)


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Broker]:
    broker = Broker(tmp_path / "nats")
    await broker.server.start()
    yield broker
    await broker.server.stop()


@pytest.fixture
async def servers(broker: Broker) -> AsyncIterator[Servers]:
    async with running_servers(NatsServer(broker.server.url, broker.keys)) as servers:
        yield servers


def fired(told: Told) -> list[datetime]:
    return [tick.due for tick in told.ticks if tick.outcome is TickOutcome.FIRED]


def assert_each_second_once(told: Told) -> None:
    """Every second, from the first told of to the last, is in one report."""
    seconds: Counter[datetime] = Counter()
    for tick in told.ticks:
        seconds.update(tick.due + number * SECOND for number in range(tick.count))
    assert set(seconds.values()) == {1}
    assert len(seconds) == (max(seconds) - min(seconds)) // SECOND + 1


def assert_one_run_for_each_tick(told: Told) -> None:
    assert Counter(run.due for run in told.finished) == Counter(fired(told))
    assert len({run.run_id for run in told.finished}) == len(told.finished)


async def test_a_run_that_the_agent_did_not_survive_is_told_finished_once(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("long", "* * * * * *", "sleep", "1000")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.started) >= 2)
        processes = psutil.Process(agent.pid).children(recursive=True)
        await agent.kill()
        _, left = await asyncio.to_thread(psutil.wait_procs, processes, 20)
        assert not left, "the watchdog ends them"
        open_runs = {run.run_id for run in servers.of_agent.started}
        servers.request("schedule-long", started=False)
        await agent.start()
        told = servers.of_agent
        await eventually(lambda: open_runs <= {run.run_id for run in told.finished})
        await agent.stop()

    assert {(run.exit_code, run.error) for run in told.finished} == {(None, "the agent stopped while it ran")}
    assert_one_run_for_each_tick(told)


async def test_the_time_without_agent_is_one_missed_range(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("job", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.finished) >= 2)
        await agent.kill()
        await asyncio.sleep(2.5)  # due times pass
        told = servers.of_agent
        before = len(told.ticks)
        await agent.start()
        await eventually(lambda: len(told.ticks) >= before + 3)
        await eventually(lambda: any(tick.outcome is TickOutcome.MISSED for tick in told.ticks))
        await agent.stop()

    missed = [tick for tick in told.ticks if tick.outcome is TickOutcome.MISSED]
    [away] = [tick for tick in missed if tick.reason == "agent away"]
    assert away.count >= 2
    assert_each_second_once(told)
    assert_one_run_for_each_tick(told)


async def test_an_agent_killed_again_and_again_leaves_no_hole_and_no_double(servers: Servers, tmp_path: Path) -> None:
    for number in range(20):  # many at the same time, so that a kill finds some of them half done
        servers.schedule(f"job-{number}", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        for _ in range(5):
            await asyncio.sleep(random.uniform(0.9, 1.9))
            await agent.kill()
            await agent.start()
        ticks = len(servers.of_agent.ticks)
        await eventually(lambda: len(servers.of_agent.ticks) > ticks + 40)
        await agent.stop()
        told = servers.of_agent

    for name in servers.items:
        of_flow = Told(
            ticks=[tick for tick in told.ticks if tick.flow == name],
            finished=told.runs(name),
        )
        assert_each_second_once(of_flow)
        assert_one_run_for_each_tick(of_flow)


async def test_schedules_go_on_while_bus_and_servers_are_away_and_all_is_told_later(
    broker: Broker, servers: Servers, tmp_path: Path
) -> None:
    servers.schedule("job", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        told = servers.of_agent
        servers.refusal = 503
        await broker.server.stop()
        await asyncio.sleep(2.2)  # due times pass
        before = len(told.ticks)
        await broker.server.start()
        servers.refusal = None
        await eventually(lambda: len(told.ticks) >= before + 4)
        await agent.stop()

    assert {tick.outcome for tick in told.ticks} == {TickOutcome.FIRED}
    assert_each_second_once(told)
    assert_one_run_for_each_tick(told)


async def test_an_agent_that_starts_while_all_is_away_runs_what_it_had(
    broker: Broker, servers: Servers, tmp_path: Path
) -> None:
    servers.schedule("job", "* * * * * *", "touch", str(tmp_path / "ran"))
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        await agent.stop()
        told = servers.of_agent
        servers.refusal = 503
        await broker.server.stop()
        (tmp_path / "ran").unlink()
        await asyncio.sleep(1.1)  # a due time passes
        await agent.start()
        await eventually((tmp_path / "ran").exists)
        before = len(told.ticks)
        await broker.server.start()
        servers.refusal = None
        await eventually(lambda: len(told.ticks) >= before + 3)
        await eventually(lambda: any(tick.outcome is TickOutcome.MISSED for tick in told.ticks))
        await agent.stop()

    missed = [tick.reason for tick in told.ticks if tick.outcome is TickOutcome.MISSED]
    assert missed == ["agent away"]
    assert_each_second_once(told)
    assert_one_run_for_each_tick(told)


async def test_variables_keep_their_last_values_while_the_servers_are_away(
    broker: Broker, servers: Servers, tmp_path: Path
) -> None:
    servers.variables["word"] = VariableValue(value="hello", is_secret=False)
    servers.schedule("job", "* * * * * *", "echo", "{{var:word}}")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        told = servers.of_agent
        await broker.server.stop()
        away = datetime.now(UTC)
        await asyncio.sleep(6.5)  # longer than a value is fresh
        await broker.server.start()
        await eventually(lambda: max(run.started for run in told.finished) > away + 6 * SECOND)
        await agent.stop()

    assert {(run.output, run.error) for run in told.finished} == {("hello\n", None)}
    assert_one_run_for_each_tick(told)


async def test_reports_come_once_however_often_the_bus_is_killed(
    broker: Broker, servers: Servers, tmp_path: Path
) -> None:
    servers.schedule("job", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        told = servers.of_agent
        for _ in range(4):
            restarts = broker.server.restarts
            broker.kill()
            await eventually(lambda known=restarts: broker.server.restarts > known)  # type: ignore[misc]
            await asyncio.sleep(random.uniform(0.2, 1.2))
        before = len(told.finished)
        await eventually(lambda: len(told.finished) > before + 2)
        await agent.stop()

    assert_each_second_once(told)
    assert_one_run_for_each_tick(told)


async def test_a_bus_that_moves_is_found_again(broker: Broker, servers: Servers, tmp_path: Path) -> None:
    servers.schedule("job", "* * * * * *", "true")
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(running_agent(servers, tmp_path / "agent"))
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        agents = dict(servers.credentials), dict(servers.told)
        os.kill(agent.pid, signal.SIGSTOP)  # what the old stream has is read before it is gone for good
        await servers.caught_up()
        await broker.server.stop()
        os.kill(agent.pid, signal.SIGCONT)
        broker.server = EmbeddedServer(tmp_path / "nats-elsewhere", broker.keys)
        await broker.server.start()
        moved = await stack.enter_async_context(running_servers(NatsServer(broker.server.url, broker.keys)))
        moved.items, moved.signer = servers.items, servers.signer
        moved.credentials, moved.told = agents
        servers.bus_servers = [broker.server.url]
        ticks = len(moved.of_agent.ticks)
        await eventually(lambda: len(moved.of_agent.ticks) > ticks + 2, 40)
        await agent.stop()

    assert_each_second_once(moved.of_agent)


async def test_while_the_disk_is_full_nothing_fires_that_could_not_be_written_down(
    servers: Servers, tmp_path: Path
) -> None:
    servers.schedule("job", "* * * * * *", "true")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.finished))
        told = servers.of_agent
        process = psutil.Process(agent.pid)
        process.rlimit(psutil.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        await eventually(lambda: "the agent's disk fails" in agent.log)
        await asyncio.sleep(1.5)  # due times pass
        process.rlimit(psutil.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ticks = len(told.ticks)
        await eventually(lambda: len(told.ticks) > ticks + 3)
        await agent.stop()

    assert_each_second_once(told)
    assert_one_run_for_each_tick(told)


async def test_a_full_disk_does_not_keep_the_agent_from_stopping(servers: Servers, tmp_path: Path) -> None:
    servers.schedule("job", "* * * * * *", "sleep", "1000")
    async with running_agent(servers, tmp_path / "agent") as agent:
        await eventually(lambda: bool(servers.credentials) and bool(servers.of_agent.started))
        process = psutil.Process(agent.pid)
        children = process.children(recursive=True)
        process.rlimit(psutil.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        await asyncio.sleep(1.5)  # due times pass

        assert await agent.stop() == 1
        assert not (await asyncio.to_thread(psutil.wait_procs, children, 10))[1]
