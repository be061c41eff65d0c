"""An agent as a process of its own, as operators run it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.conformance.agent_servers import Servers


class AgentProcess:
    """An agent in `folder`, and what it logs.

    settings: without their PENSTOCK_AGENT_ prefix. environment: other variables.
    """

    def __init__(self, servers: Servers, folder: Path, settings: dict[str, str]) -> None:
        self._servers = servers
        self.folder = folder
        self.settings = settings
        self.environment: dict[str, str] = {}
        self.log = ""
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def variables(self) -> dict[str, str]:
        """The environment that it runs in."""
        settings = {f"PENSTOCK_AGENT_{name}": value for name, value in self.settings.items()}
        return {**os.environ, **self.environment, **settings}

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "penstock.agent",
            env=self.variables,
            cwd=self.folder.parent,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reader = asyncio.create_task(self._read())

    async def ended(self) -> int:
        """The exit code, once the process has ended and the servers have taken in what it reported."""
        assert self._process is not None
        assert self._reader is not None
        async with asyncio.timeout(30):
            await self._reader
            code = await self._process.wait()
        if self._servers.bus.connected:
            await self._servers.caught_up()
        return code

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.log += line.decode()

    async def stop(self) -> int:
        """Asks it to stop; answers the exit code."""
        os.kill(self.pid, signal.SIGTERM)
        return await self.ended()

    async def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        await self.ended()

    async def end(self) -> None:
        """Sees to it that it has ended."""
        if self._process is not None and self._process.returncode is None:
            await self.kill()


@asynccontextmanager
async def agent_process(servers: Servers, folder: Path, **settings: str) -> AsyncIterator[AgentProcess]:
    """An agent that has the first token, not started yet; it has ended when the context is left."""
    default = {"SERVER": servers.address, "FOLDER": str(folder), "TOKEN": "token-1", "NAME": "test-agent"}
    process = AgentProcess(servers, folder, {**default, **settings})
    try:
        yield process
    finally:
        await process.end()


@asynccontextmanager
async def running_agent(servers: Servers, folder: Path, **settings: str) -> AsyncIterator[AgentProcess]:
    """A started agent; it has ended when the context is left."""
    async with agent_process(servers, folder, **settings) as process:
        await process.start()
        yield process
