"""One running kernel."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from penstock.engine.channels import Channels, KernelLost, Message
from penstock.engine.folders import KernelFolders, remove_folders
from penstock.engine.languages import Language
from penstock.engine.output import Output, from_message
from penstock.flow.commands.orphans import sweep
from penstock.kernel.errors import PenstockError

_log = structlog.get_logger(__name__)

MARKER = "PENSTOCK_KERNEL"
ENGINE_MARKER = "PENSTOCK_KERNEL_OF"
_ASK_SECONDS = 0.01
_PATIENCE = 2.0  # seconds that interrupted code has to end
_LAST_WORDS = 2000  # bytes
_LAST_WORDS_SECONDS = 0.5

Emit = Callable[[Output], None]


class LimitReached(PenstockError):
    """A run went over a limit and was ended. survived: whether its kernel is as good as before."""

    code = "limit-reached"
    title = "The run went over a limit"

    def __init__(self, detail: str, *, survived: bool = False) -> None:
        super().__init__(detail)
        self.survived = survived


class Answer(msgspec.Struct, frozen=True):
    """How a piece of code ended. failed: with an error, which was shown."""

    failed: bool


class Kernel:
    """language: what it runs. process: its id, and of the processes that keep it apart, the outermost."""

    def __init__(
        self,
        language: Language,
        process: asyncio.subprocess.Process,
        channels: Channels,
        folders: KernelFolders,
        marker: str,
    ) -> None:
        self.language = language
        self.folders = folders
        self._process = process
        self._channels = channels
        self._marker = marker
        self._last_words = b""
        self._tasks = [
            asyncio.create_task(self._listen(), name=f"last words of kernel {process.pid}"),
            asyncio.create_task(self._wait(), name=f"end of kernel {process.pid}"),
        ]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._channels.lost.done()

    async def ready(self, seconds: float) -> None:
        """Returns when the kernel answers and its output arrives. Raises KernelLost."""
        try:
            async with asyncio.timeout(seconds):
                # Published messages are lost until the subscription stands, so ask until one comes.
                heard = asyncio.Event()
                while not heard.is_set():
                    await self._channels.ask("kernel_info_request", {}, listener=lambda kind, content: heard.set())
                    with suppress(TimeoutError):
                        await asyncio.wait_for(heard.wait(), _ASK_SECONDS)
        except TimeoutError:
            raise KernelLost(f"the kernel did not answer within {seconds:g} s") from None
        except KernelLost as lost:
            raise KernelLost(f"{lost.detail}; it said: {self._said}" if self._said else lost.detail) from None

    @property
    def _said(self) -> str:
        return self._last_words.decode(errors="replace").strip()

    async def execute(self, code: str, emit: Emit, *, silent: bool = False) -> Answer:
        """Runs code to its end; `emit` gets its output. Raises KernelLost.

        When cancelled, the code is interrupted; a kernel that goes on all the same is ended.
        """
        idle = asyncio.Event()

        def listen(kind: str, content: Message) -> None:
            if kind == "status" and content.get("execution_state") == "idle":
                idle.set()
                return
            output = from_message(kind, content)
            if output is not None:
                emit(output)

        request = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        running = asyncio.ensure_future(self._execute(request, listen, idle))
        try:
            reply = await asyncio.shield(running)
        except asyncio.CancelledError:
            await self._interrupt(running)
            raise
        return Answer(failed=reply.get("status") != "ok")

    async def ask(self, kind: str, content: Message) -> Message:
        """A request that runs no code, such as for completion. Raises KernelLost."""
        return await self._channels.ask(kind, content)

    async def close(self) -> None:
        """Ends the kernel and everything that it started, and removes its folders."""
        self._kill()
        await asyncio.wait([self._tasks[1]])
        await self._channels.close()
        await asyncio.to_thread(self._clean)
        self._tasks[0].cancel()
        await asyncio.wait([self._tasks[0]])

    async def _execute(self, request: Message, listen: Callable[[str, Message], None], idle: asyncio.Event) -> Message:
        ended = asyncio.ensure_future(idle.wait())
        try:
            return await self._channels.ask("execute_request", request, listener=listen, until=ended)
        finally:
            ended.cancel()

    async def _interrupt(self, running: "asyncio.Future[Message]") -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._channels.ask("interrupt_request", {}, channel="control")
                await asyncio.wait({running})
        except (TimeoutError, KernelLost):
            self._channels.fail("the kernel did not stop when it was interrupted")
            self._kill()
        finally:
            if not running.cancel():
                running.exception()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _clean(self) -> None:
        if not self.folders.inside:
            # Without a process namespace, what left the group goes on.
            sweep(MARKER, self._marker)
        remove_folders(self.folders)

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._last_words = (self._last_words + chunk)[-_LAST_WORDS:]

    async def _wait(self) -> None:
        code = await self._process.wait()
        await asyncio.wait([self._tasks[0]], timeout=_LAST_WORDS_SECONDS)  # others may hold its standard error
        self._channels.fail(_ending(code))
        if not self.folders.inside:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        _log.debug("kernel ended", language=self.language.name, exit_code=code, said=self._said)


def _ending(code: int) -> str:
    if code == 0:
        return "the code ended its kernel"
    # bubblewrap answers as shells do.
    number = -code if code < 0 else code - 128
    try:
        return f"the kernel ended by {signal.Signals(number).name}"
    except ValueError:
        return f"the kernel ended with exit code {code}"


def programs(language: Language, python: str, main: str, connection: str, limits: str) -> Sequence[str]:
    """The command line of a kernel: its own program behind the one that gives up rights."""
    started: list[Any] = [python, "-I", main, connection, limits]
    return started + [part.replace("{connection_file}", connection) for part in language.argv or ()]
