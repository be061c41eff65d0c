"""What an agent leaves behind is killed, even when the agent was killed itself."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.flow.commands.guard import Guard
from penstock.flow.commands.orphans import marked, sweep
from tests.conformance.running_engine import eventually
from tests.conformance.test_flow_command import DAEMON

NAME = "PENSTOCK_AGENT_RUN"

# An agent as far as this matters: a guard, and a flow engine with a command that spreads.
OWNER = """
import asyncio, sys
from datetime import UTC, timedelta
from penstock.flow.engine import EngineSettings, FlowEngine
from penstock.flow.commands.guard import Guard
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.kernel.clock import SystemClock

class Listener:
    async def ticks(self, ticks): pass
    async def run_started(self, run): pass
    async def run_finished(self, run): pass
    def log(self, entry): pass

async def resolve(name): raise LookupError(name)

async def main(marker, *command):
    settings = EngineSettings(agent_run=marker)
    async with Guard("PENSTOCK_AGENT_RUN", marker) as guard:
        async with FlowEngine(SystemClock(), UTC, Listener(), resolve, settings) as engine:
            source = scheduled_command("spread", "* * * * * ?", command[0], command[1:])
            await engine.start(parse_flow("spread", "1", source))
            print(guard.pid, flush=True)
            await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def marker() -> str:
    return f"test-{os.urandom(8).hex()}"


def ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as state:
            return state.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_a_sweep_kills_what_carries_the_marker_and_nothing_else(marker: str, tmp_path: Path) -> None:
    told = tmp_path / "daemon"
    environment = {**os.environ, NAME: marker}
    with (
        subprocess.Popen([sys.executable, "-c", DAEMON, str(told)], env=environment) as ours,
        subprocess.Popen(["sleep", "600"], env={**os.environ, NAME: marker + "x"}) as other,
    ):
        try:
            await eventually(lambda: told.exists() and told.read_text() != "")
            await asyncio.to_thread(sweep, NAME, marker)
            assert marked(NAME, marker) == []
            assert ours.wait() == -signal.SIGKILL
            assert ended(int(told.read_text()))
            assert other.poll() is None
        finally:
            other.kill()


async def test_a_killed_owner_leaves_no_process_behind(marker: str, tmp_path: Path) -> None:
    told = tmp_path / "daemon"
    command = [sys.executable, "-c", OWNER, marker, sys.executable, "-c", DAEMON, str(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        watchdog = int(await asyncio.to_thread(owner.stdout.readline))
        await eventually(lambda: told.exists() and told.read_text() != "")
        assert marked(NAME, marker)
        owner.kill()
    await eventually(lambda: not marked(NAME, marker))
    await eventually(lambda: ended(watchdog))
    assert ended(int(told.read_text()))


async def test_a_watchdog_outlives_the_signals_that_end_its_owner(marker: str) -> None:
    async with Guard(NAME, marker) as guard:
        await eventually(lambda: _ignores(guard.pid, signal.SIGTERM))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guard.pid, number)
        assert not ended(guard.pid)


async def test_a_watchdog_that_ends_early_is_replaced(marker: str) -> None:
    async with Guard(NAME, marker) as guard:
        first = guard.pid
        os.kill(first, signal.SIGKILL)
        await eventually(lambda: guard.pid != first)
        assert not ended(guard.pid)
        second = guard.pid
    assert ended(second)


async def test_leaving_the_guard_kills_what_is_left(marker: str) -> None:
    async with Guard(NAME, marker):
        left = subprocess.Popen(["sleep", "600"], env={**os.environ, NAME: marker})
    assert left.wait() == -signal.SIGKILL


def _ignores(pid: int, number: signal.Signals) -> bool:
    with open(f"/proc/{pid}/status") as status:
        ignored = next(line for line in status if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) & 1 << (number - 1))
