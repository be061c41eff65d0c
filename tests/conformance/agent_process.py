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
    """environment: the settings, each without its PENSTOCK_AGENT_ prefix."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self, **more: str) -> None:
        settings = {**self._environment, **more}
        with (self.folder.parent / "agent.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "penstock.agent",
                env={**os.environ, **{f"PENSTOCK_AGENT_{name}": value for name, value in settings.items()}},
                cwd=self.folder.parent,
                stderr=log,
            )

    async def ended(self) -> int:
        """The exit code, once the process has ended."""
        assert self._process is not None
        async with asyncio.timeout(30):
            return await self._process.wait()

    async def stop(self) -> int:
        """Asks it to stop; answers the exit code."""
        os.kill(self.pid, signal.SIGTERM)
        return await self.ended()

    async def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        await self.ended()

    @property
    def log(self) -> str:
        return (self.folder.parent / "agent.log").read_text()


@asynccontextmanager
async def agent_process(servers: Servers, folder: Path, **settings: str) -> AsyncIterator[AgentProcess]:
    """A started agent that registers with the first token; it has ended when the context is left."""
    environment = {"SERVER": servers.address, "FOLDER": str(folder), "TOKEN": "token-1", "NAME": "test-agent"}
    process = AgentProcess(folder, {**environment, **settings})
    await process.start()
    try:
        yield process
    finally:
        if process._process is not None and process._process.returncode is None:
            await process.kill()
