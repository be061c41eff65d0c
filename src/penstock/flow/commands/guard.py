"""Keeps a watchdog beside this process for as long as it lives."""

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import Self

import structlog

from penstock.flow.commands.orphans import sweep

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0
_STEADY_SECONDS = 60.0
_log = structlog.get_logger(__name__)


class Guard:
    """Within `async with`, a watchdog process waits to kill what carries NAME=VALUE once this process has gone.

    A watchdog that ends early is replaced, ever more slowly while they keep ending. Leaving the block kills what is
    left, and ends the watchdog.
    """

    def __init__(self, name: str, value: str) -> None:
        self._name = name
        self._value = value
        self._watchdog: _Watchdog
        self._started = 0.0
        self._pause = _FIRST_PAUSE
        self._coming: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """The watchdog's process id."""
        return self._watchdog.process.pid

    async def __aenter__(self) -> Self:
        self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._coming is not None:
            self._coming.cancel()
            await asyncio.to_thread(sweep, self._name, self._value)
            return
        watchdog = self._watchdog
        watchdog.farewell()
        watchdog.let_go()
        await asyncio.to_thread(watchdog.process.wait)

    def _start(self) -> None:
        self._coming = None
        self._started = asyncio.get_running_loop().time()
        self._watchdog = _Watchdog(self._name, self._value)
        asyncio.get_running_loop().add_reader(self._watchdog.handle, self._replace)

    def _replace(self) -> None:
        watchdog = self._watchdog
        watchdog.let_go()
        loop = asyncio.get_running_loop()
        if loop.time() - self._started > _STEADY_SECONDS:
            self._pause = _FIRST_PAUSE
        pause, self._pause = self._pause, min(self._pause * 2, _LONGEST_PAUSE)
        code = watchdog.process.wait()
        _log.warning("Watchdog ended early and is replaced", exit_code=code, seconds=pause)
        self._coming = loop.call_later(pause, self._start)


class _Watchdog:
    """One watchdog process, with the pipe that keeps it waiting. handle: readable when it has ended."""

    def __init__(self, name: str, value: str) -> None:
        reader, self._writer = os.pipe()
        # -P: modules in the working directory must not stand in for ours or Python's.
        command = [sys.executable, "-P", "-m", "penstock.flow.commands.watchdog", name, value]
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own module
                command, stdin=reader, stdout=subprocess.DEVNULL, start_new_session=True
            )
        finally:
            os.close(reader)
        self.handle = os.pidfd_open(self.process.pid)

    def farewell(self) -> None:
        """Says that this process ends by itself."""
        with suppress(BrokenPipeError):  # the watchdog has ended early
            os.write(self._writer, b".")

    def let_go(self) -> None:
        asyncio.get_running_loop().remove_reader(self.handle)
        os.close(self.handle)
        os.close(self._writer)
