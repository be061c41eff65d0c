"""One Java process, from its start to its end."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from penstock.flow.commands.command import RUN_MARKER
from penstock.flow.commands.orphans import sweep
from penstock.kernel.ids import new_id

_AT_ONCE = 1 << 16
_LONGEST_LINE = 1 << 18
_LAST_WORDS = 1.0

Line = Callable[[bytes], None]


class JavaProcess:
    """Leads a session of its own and carries the markers by which the agent's watchdog finds it."""

    def __init__(self, process: asyncio.subprocess.Process, marker: str) -> None:
        self._process = process
        self._marker = marker

    @classmethod
    async def start(cls, program: Path, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Self:
        marker = new_id().hex
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            cwd=folder,
            env={**environment, RUN_MARKER: marker},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        return cls(process, marker)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def lines(self, take: Line) -> int:
        """Hands over each line that the process writes, until it has ended; answers its exit code.

        A line beyond 256 KiB is cut. A negative exit code is the signal that ended it.
        """
        reading = asyncio.create_task(self._read(take))
        try:
            code = await self._process.wait()
            await asyncio.wait({reading}, timeout=_LAST_WORDS)  # what it started may hold the output open
        finally:
            reading.cancel()
            await asyncio.wait({reading})
        return code

    async def _read(self, take: Line) -> None:
        assert self._process.stdout is not None
        rest = b""
        while data := await self._process.stdout.read(_AT_ONCE):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                take(line[:_LONGEST_LINE])
            rest = rest[: _LONGEST_LINE + 1]
        if rest:
            take(rest[:_LONGEST_LINE])

    def ask_to_end(self) -> None:
        """Camel takes no more exchanges and finishes those in flight."""
        self._signal(signal.SIGTERM)

    async def kill(self) -> None:
        """Ends it and all that it started, now."""
        self._signal(signal.SIGKILL)
        await self._process.wait()
        await asyncio.to_thread(sweep, RUN_MARKER, self._marker)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
