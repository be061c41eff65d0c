"""Processes of packages, started when first needed and again when they have ended."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec
import structlog

from penstock.connectors.packaged.message import (
    Answered,
    Cancel,
    Describe,
    Description,
    Emitted,
    FromHost,
    Kept,
    Listen,
    Raised,
    ToHost,
    framed,
    read_frame,
)
from penstock.connectors.source import Emit
from penstock.kernel.errors import PenstockError
from penstock.packages.environment import Environment, Environments, Package

_log = structlog.get_logger(__name__)
_decoder = msgspec.msgpack.Decoder(FromHost)
_HOST = "penstock.connectors.packaged.host"
_GRACE_SECONDS = 2.0
_LONGEST_LINE = 1000


class PackageFailed(PenstockError):
    """The package's code failed, or its process ended.

    retry_after: seconds that it asks to wait. permanent: trying again will not help.
    """

    code = "package-failed"
    title = "The package's process has ended"

    def __init__(self, detail: str = "", retry_after: float | None = None, *, permanent: bool = False) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
        self.permanent = permanent


class PackageProcess:
    """The process of one package; its environment has nothing of ours but where to find programs and how to write."""

    def __init__(self, package: Package, environments: Environments, variables: Mapping[str, str]) -> None:
        self._package = package
        self._environments = environments
        self._variables = variables
        self._running: _Running | None = None
        self._starting = asyncio.Lock()

    async def describe(self) -> Description:
        """What the package brings. Raises InstallFailed, PackageFailed."""
        found = await self.call(lambda number: Describe(call=number))
        return msgspec.convert(found, Description)

    async def call(self, message: Callable[[int], ToHost]) -> Any:
        """One call and its result. Raises InstallFailed, PackageFailed."""
        running = await self._ensure()
        async with running.call(message) as answers:
            match await answers.get():
                case Answered(result=result):
                    return result
                case Raised() as raised:
                    raise _error(raised)
        raise PackageFailed

    async def listen(self, message: Callable[[int], Listen], emit: Emit) -> None:
        """Has a source listen, until cancelled. Raises PackageFailed when it ends, and what `call` raises."""
        running = await self._ensure()
        async with running.call(message) as answers:
            while True:
                match await answers.get():
                    case Emitted() as emitted:
                        await running.tell(await _kept(emitted, emit))
                    case Raised() as raised:
                        raise _error(raised)
                    case _:
                        raise PackageFailed

    async def close(self) -> None:
        """Ends the process."""
        running, self._running = self._running, None
        if running is not None:
            await running.end()

    async def forget(self) -> None:
        """Ends the process and removes its environment. Who calls meanwhile or later has both made anew."""
        async with self._starting:
            await self.close()
            await self._environments.remove(self._package)

    async def _ensure(self) -> "_Running":
        async with self._starting:
            if self._running is None or self._running.ended:
                environment = await self._environments.ensure(self._package)
                self._running = await _Running.start(environment, self._variables)
            return self._running


class _Running:
    """A process from its start to its end, and the calls that it works on."""

    def __init__(self, package: Package, process: asyncio.subprocess.Process) -> None:
        self._package = str(package)
        self._process = process
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Queue[FromHost | None]] = {}
        self._tasks = [
            asyncio.create_task(self._read(), name=f"answers of {package}"),
            asyncio.create_task(self._log(), name=f"output of {package}"),
        ]

    @classmethod
    async def start(cls, environment: Environment, variables: Mapping[str, str]) -> "_Running":
        folder = environment.python.parent.parent
        process = await asyncio.create_subprocess_exec(
            str(environment.python),
            "-I",
            "-m",
            _HOST,
            environment.package.name,
            env=environment.variables(variables),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return cls(environment.package, process)

    @property
    def ended(self) -> bool:
        return self._tasks[0].done()

    @asynccontextmanager
    async def call(self, message: Callable[[int], ToHost]) -> AsyncIterator["asyncio.Queue[FromHost | None]"]:
        """Gives the answers to a call, None at the end of the process. A block that is cancelled cancels the call."""
        number = next(self._numbers)
        answers: asyncio.Queue[FromHost | None] = asyncio.Queue()
        self._answers[number] = answers
        try:
            await self.tell(message(number))
            yield answers
        except asyncio.CancelledError:
            self._write(Cancel(call=number))
            raise
        finally:
            del self._answers[number]

    async def tell(self, message: ToHost) -> None:
        self._write(message)
        assert self._process.stdin is not None
        with suppress(ConnectionError):  # the end of the process is told as answer to its calls
            await self._process.stdin.drain()
        if self.ended:
            raise PackageFailed

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.wait(self._tasks)

    def _write(self, message: ToHost) -> None:
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(framed(message))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while (body := await read_frame(self._process.stdout)) is not None:
                message = _decoder.decode(body)
                if message.call in self._answers:
                    self._answers[message.call].put_nowait(message)
        except (ValueError, msgspec.DecodeError) as error:
            _log.error("package's process cannot be understood", package=self._package, reason=str(error))
            self._process.kill()
        code = await self._process.wait()
        for answers in self._answers.values():
            _log.warning("package's process ended over its work", package=self._package, exit_code=code)
            answers.put_nowait(None)

    async def _log(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(64 * 1024):
            for line in chunk.decode(errors="replace").splitlines():
                _log.info("package writes", package=self._package, line=line[:_LONGEST_LINE])


class PackageProcesses:
    """One process for each package. variables: of the platform; only what packages may see is passed on."""

    def __init__(self, environments: Environments, variables: Mapping[str, str], *, allow_private: bool) -> None:
        self._environments = environments
        self._variables = variables
        self._processes: dict[Package, PackageProcess] = {}
        self.allow_private = allow_private

    def of(self, package: Package) -> PackageProcess:
        if package not in self._processes:
            self._processes[package] = PackageProcess(package, self._environments, self._variables)
        return self._processes[package]

    async def forget(self, package: Package) -> None:
        """Ends the package's process and removes its environment; it may be used again at any time."""
        await self.of(package).forget()

    async def close(self) -> None:
        """Ends all processes; those that are asked for later are started again."""
        async with asyncio.TaskGroup() as group:
            for process in self._processes.values():
                group.create_task(process.close())


async def _kept(emitted: Emitted, emit: Emit) -> Kept:
    try:
        await emit(emitted.findings)
    except PenstockError as error:
        return Kept(call=emitted.call, number=emitted.number, reason=error.detail)
    return Kept(call=emitted.call, number=emitted.number)


def _error(raised: Raised) -> PackageFailed:
    detail = raised.detail if raised.known else f"the package's code failed with {raised.detail}"
    return PackageFailed(detail, raised.retry_after, permanent=raised.permanent)
