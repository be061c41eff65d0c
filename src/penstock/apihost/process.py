"""The process of one API: started with its configuration, watched, ended with whoever started it."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

import msgspec
import structlog

from penstock.apihost.message import ApiFailed, Hosting, PackageDescription, Started
from penstock.packages.environment import Environment

T = TypeVar("T", bound=msgspec.Struct)
Hide = Callable[[str], str]
"""Takes the secrets out of a text."""

_RUNNER = "penstock.apihost.runner"
_START_SECONDS = 60.0
_STOP_SECONDS = 4.0
_LAST_WORDS_SECONDS = 1.0
_LONGEST_LINE = 1000
_LONGEST_PENDING = 256 * 1024  # bytes without an end of line
_LONGEST_ANSWER = 16 * 1024 * 1024
_log = structlog.get_logger(__name__)


class ApiProcess:
    """A running API. socket: where it listens. started: what it says of itself."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, socket: Path, hide: Hide) -> None:
        self.name = name
        self.socket = socket
        self.started = Started()
        self._process = process
        self._output = asyncio.create_task(_log_output(process, name, hide), name=f"output of {name}")

    @classmethod
    async def start(
        cls,
        name: str,
        environment: Environment,
        hosting: Hosting,
        socket: Path,
        variables: Mapping[str, str],
        hide: Hide,
    ) -> Self:
        """Returns once the application answers. socket: the path by which this process reaches hosting.socket.

        variables: of the platform; what packages may see is passed on.

        Raises ApiFailed. Cancelled, it leaves nothing behind.
        """
        process = await _spawn(environment, ["host"], variables)
        api = cls(name, process, socket, hide)
        try:
            api.started = await api._begin(hosting)
        except BaseException:
            await api.stop()
            raise
        return api

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ended(self) -> str:
        """Waits until the process ends by itself; says how."""
        code = await self._process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        return f"the process {how}"

    async def stop(self) -> None:
        """Ends it: requests in progress get a moment. Nothing of its group is left."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self._process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await asyncio.shield(self._process.wait())
            self.socket.unlink(missing_ok=True)
            await asyncio.wait({self._output}, timeout=_LAST_WORDS_SECONDS)
            self._output.cancel()  # somebody whom the process started, and who got away, may still hold the pipe
            await asyncio.wait({self._output})

    async def _begin(self, hosting: Hosting) -> Started:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(hosting) + b"\n")
        with suppress(ConnectionError):  # its end is told by the answer that does not come
            await self._process.stdin.drain()
        try:
            async with asyncio.timeout(_START_SECONDS):
                started = await _answer(self._process, Started)
        except TimeoutError:
            raise ApiFailed(f"did not start within {_START_SECONDS:g} seconds") from None
        if started.reason is not None:
            raise ApiFailed(started.reason)
        return started


async def describe(environment: Environment, variables: Mapping[str, str]) -> PackageDescription:
    """What the package of an environment brings. Raises ApiFailed."""
    process = await _spawn(environment, ["describe", environment.package.name], variables)
    name = str(environment.package)
    output = asyncio.create_task(_log_output(process, name, lambda text: text), name=f"output of {name}")
    try:
        async with asyncio.timeout(_START_SECONDS):
            return await _answer(process, PackageDescription)
    except TimeoutError:
        raise ApiFailed(f"the package's code took more than {_START_SECONDS:g} seconds to load") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())
        await asyncio.wait({output})


async def _spawn(
    environment: Environment, arguments: list[str], variables: Mapping[str, str]
) -> asyncio.subprocess.Process:
    folder = environment.python.parent.parent
    try:
        return await asyncio.create_subprocess_exec(
            str(environment.python),
            "-Iu",
            "-m",
            _RUNNER,
            *arguments,
            env=environment.variables(variables),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=_LONGEST_ANSWER,
        )
    except OSError as error:
        raise ApiFailed(f"the environment of {environment.package} cannot be used: {error.strerror}") from None


async def _answer(process: asyncio.subprocess.Process, wanted: type[T]) -> T:
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise ApiFailed(f"the process ended with {code} before it was ready; its last words are in the log")
        return msgspec.json.decode(line, type=wanted)
    except (ValueError, msgspec.DecodeError):
        raise ApiFailed("what the process says cannot be read") from None


async def _log_output(process: asyncio.subprocess.Process, name: str, hide: Hide) -> None:
    """Line by line: in a piece of a line, a piece of a secret would not be found."""
    assert process.stderr is not None
    pending = b""
    while chunk := await process.stderr.read(64 * 1024):
        pending += chunk
        end = len(pending) if len(pending) > _LONGEST_PENDING else pending.rfind(b"\n") + 1
        _log_lines(pending[:end], name, hide)
        pending = pending[end:]
    _log_lines(pending, name, hide)


def _log_lines(text: bytes, name: str, hide: Hide) -> None:
    for line in hide(text.decode(errors="replace")).splitlines():
        _log.info("api writes", api=name, line=line[:_LONGEST_LINE])
