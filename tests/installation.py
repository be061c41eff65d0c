"""An installation as `penstock up` runs it: real processes in a folder of its own."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from tests.nats_server import free_port
from tests.program import PROGRAM, Ended, Terminal

PATIENCE = 90.0


class Up:
    """A running `penstock up`. shown: what it has written so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.shown = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    async def shows(self, text: str) -> None:
        """Reads on until the text has been written."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while text not in self.shown:
                data = await self._process.stdout.read(4096)
                assert data, f"it ended before it wrote '{text}':\n{self.shown}"
                self.shown += data.decode()

    def processes(self) -> list[psutil.Process]:
        """It and everything that it has started."""
        top = psutil.Process(self.pid)
        return [top, *top.children(recursive=True)]

    def child(self, words: str) -> psutil.Process:
        """The process whose command line has these words."""
        [found] = [each for each in self.processes() if words in command_of(each)]
        return found

    async def interrupt(self) -> Ended:
        """Ctrl-C; returns when it has ended."""
        self._process.send_signal(signal.SIGINT)
        return await self.end()

    async def end(self) -> Ended:
        out, _ = await self._process.communicate()
        self.shown += out.decode()
        return Ended(self._process.returncode or 0, self.shown, "")

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def kill(self) -> None:
        """The way out of a test, whatever has happened; ends nothing that a good run leaves."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()


class Place:
    """A folder, a port and a terminal of one installation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.terminal = Terminal(folder, f"http://127.0.0.1:{self.port}")

    @asynccontextmanager
    async def up(self, **settings: str) -> AsyncIterator[Up]:
        running = Up(await self._start(settings))
        try:
            yield running
        finally:
            await running.kill()

    async def attempt(self, **settings: str) -> Ended:
        """A start that is to fail."""
        return await Up(await self._start(settings)).end()

    async def _start(self, settings: dict[str, str]) -> asyncio.subprocess.Process:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        environment |= {
            "PENSTOCK_DATA": str(self.data),
            "PENSTOCK_PORT": str(self.port),
            "PENSTOCK_PING_SECONDS": "1",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            **settings,
        }
        return await asyncio.create_subprocess_exec(
            *PROGRAM,
            "up",
            env=environment,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )


def command_of(process: psutil.Process) -> str:
    """Its command line; nothing when it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
