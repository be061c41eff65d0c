"""The `penstock` program, run as a process of its own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAM = [sys.executable, "-P", "-m", "penstock.cli.main"]


@dataclass(frozen=True)
class Ended:
    """How a run ended. out, err: what it wrote."""

    code: int
    out: str
    err: str


class Terminal:
    """Somebody's shell: their folder of configuration and their environment."""

    def __init__(self, folder: Path, address: str, **environment: str) -> None:
        self.folder = folder
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")},
            "XDG_CONFIG_HOME": str(folder / "config"),
            "PENSTOCK_URL": address,
            **environment,
        }

    @property
    def sessions(self) -> Path:
        return self.folder / "config" / "penstock" / "sessions.json"

    async def run(self, *arguments: str, given: str = "", **environment: str) -> Ended:
        """Runs one command to its end. given: standard input."""
        process = await self._start(arguments, environment)
        out, err = await process.communicate(given.encode())
        return Ended(process.returncode or 0, out.decode(), err.decode())

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[asyncio.StreamReader]:
        """A command that goes on; gives what it writes, and is ended with the context."""
        process = await self._start(arguments, {})
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.terminate()
            await process.communicate()

    async def _start(self, arguments: tuple[str, ...], environment: dict[str, str]) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *PROGRAM,
            *arguments,
            env={**self._environment, "PYTHONUNBUFFERED": "1", **environment},
            cwd=self.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
