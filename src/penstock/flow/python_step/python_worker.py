"""A process that runs the code of one `python` step, for one message after the other."""

import asyncio
import builtins
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from penstock.flow.failures.errors import FlowError, java_names

_CHILD = Path(__file__).with_name("python_child.py")
_LONGEST = 64 * 1024 * 1024  # bytes of a message
_KEPT_LINES = 50


class PythonFailed(FlowError):
    """The code raised an error, ran too long, or its process ended. trace: where, in the code's own words."""

    code = "python-failed"
    title = "The Python code failed"
    java = ("java.lang.RuntimeException",)

    def __init__(self, detail: str, lineage: tuple[str, ...] = (), trace: str = "") -> None:
        super().__init__(f"{detail}\n{trace}" if trace else detail)
        self.java_names = _java_names(lineage)


class PythonCode(msgspec.Struct, frozen=True):
    """source: a script, or one expression whose value is the new body. limit: time for one message."""

    source: str
    is_expression: bool
    limit: timedelta


class PythonWorker:
    """Keeps the process warm within `async with`; one that died is started again for the next message.

    python: the interpreter; None for this one, with Python's own library alone.
    """

    def __init__(self, code: PythonCode, python: Path | None, environment: Mapping[str, str]) -> None:
        self._code = code
        self._command = [str(python), "-I"] if python is not None else [sys.executable, "-I", "-S"]
        self._environment = dict(environment)
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._told: deque[str] = deque(maxlen=_KEPT_LINES)
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def run(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The message as the code left it, and the lines that it `printed`. Raises PythonFailed."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._code.limit.total_seconds()):
                    answer = await self._exchange(msgspec.json.encode(message) + b"\n")
            except TimeoutError:
                await self._end()
                raise PythonFailed(f"the code was ended after its time limit of {self._code.limit}") from None
            except BaseException:
                await self._end()
                raise
        if "error" in answer:
            raise PythonFailed(
                f"{answer['lineage'][0]}: {answer['error']}", tuple(answer["lineage"]), answer["trace"].rstrip()
            )
        return answer

    async def _exchange(self, line: bytes) -> dict[str, Any]:
        process = self._process
        if process is None or process.returncode is not None:
            process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # the missing answer says it
            process.stdin.write(line)
            await process.stdin.drain()
        try:
            answer = await process.stdout.readline()
        except ValueError:
            raise PythonFailed(f"the message that the code made is longer than {_LONGEST} bytes") from None
        if not answer:
            code = await process.wait()
            last = " ".join(self._told)[-500:]
            raise PythonFailed(f"the code's process ended with {code}{': ' + last if last else ''}")
        decoded: dict[str, Any] = msgspec.json.decode(answer)
        return decoded

    async def _start(self) -> asyncio.subprocess.Process:
        await self._end()
        process = await asyncio.create_subprocess_exec(
            *self._command,
            str(_CHILD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
            limit=_LONGEST,
        )
        self._process = process
        self._told.clear()
        self._listening = asyncio.create_task(self._listen(process))
        assert process.stdin is not None
        process.stdin.write(
            msgspec.json.encode({"source": self._code.source, "is_expression": self._code.is_expression}) + b"\n"
        )
        return process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while line := await process.stderr.read(4096):
            self._told.extend(line.decode(errors="replace").splitlines())

    async def _end(self) -> None:
        process, self._process = self._process, None
        listening, self._listening = self._listening, None
        if process is not None:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if listening is not None:
            listening.cancel()
            await asyncio.wait({listening})


def _java_names(lineage: tuple[str, ...]) -> tuple[str, ...]:
    """What Java's exceptions the first of Python's own ones in the lineage counts as."""
    for name in lineage:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception:
            return java_names(kind())
    return ()
