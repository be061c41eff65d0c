"""Keeps Envoy running on its files."""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from penstock.gateway.envoy.admin import Admin
from penstock.gateway.envoy.process import EnvoyProcess
from penstock.kernel.errors import Unavailable

_log = structlog.get_logger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_STEADY_SECONDS = 30.0
_READY_SECONDS = 30.0
_LOOK_SECONDS = 0.02


class Supervisor:
    """Used as a context manager. Entering raises Unavailable when Envoy does not start."""

    def __init__(self, program: str, bootstrap: Path, workers: int, admin: Admin) -> None:
        self._program = program
        self._bootstrap = bootstrap
        self._workers = workers
        self._admin = admin
        self._task: asyncio.Task[None] | None = None
        self.restarts = 0

    async def __aenter__(self) -> Self:
        self._process = await self._launch()
        try:
            await self._ready()
        except BaseException:
            await self._process.end()
            raise
        self._task = asyncio.create_task(self._supervise(), name="Envoy supervisor")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._process.end()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    async def refusal(self) -> str:
        """Why Envoy refused what it was told last."""
        return await self._process.log.refusal()

    async def _launch(self) -> EnvoyProcess:
        return await EnvoyProcess.launch(self._program, self._bootstrap, self._workers)

    async def _ready(self) -> None:
        """Returns when it answers."""
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        while self._process.is_running and asyncio.get_running_loop().time() < deadline:
            try:
                await self._admin.statistics()
            except Unavailable:
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                return
        raise Unavailable(f"Envoy does not start: {self._process.log.last_words}")

    async def _supervise(self) -> None:
        now = asyncio.get_running_loop().time
        pause = _FIRST_PAUSE
        while True:
            started = now()
            await asyncio.wait([self._process.exited])
            if now() - started > _STEADY_SECONDS:
                pause = _FIRST_PAUSE
            status = self._process.exited.result()
            _log.error(
                "Envoy died and is started again", status=status, pause=pause, reason=self._process.log.last_words
            )
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
            try:
                self._process = await self._launch()
            except (OSError, Unavailable) as error:
                _log.error("Envoy cannot be started, trying again", error=str(error))
                continue
            self.restarts += 1
