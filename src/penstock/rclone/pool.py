"""The rclone processes of an agent: as many as transfers may run at the same time, kept a while for the next ones."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.rclone.worker import RcloneWorker

_IDLE_SECONDS = 60.0


class WorkerPool:
    """Works within `async with`; leaving it ends every process.

    folder: for the processes' own folders. environment: of the processes. parallel: transfers at the same time;
    more wait for their turn.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], parallel: int = 8) -> None:
        self._folder = folder
        self._environment = environment
        self._turns = asyncio.Semaphore(parallel)
        self._idle: list[RcloneWorker] = []
        self._endings: dict[RcloneWorker, asyncio.TimerHandle] = {}
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._idle):
            self._retire(worker)
        await self._tasks.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[RcloneWorker]:
        """A process for one transfer, once it is this one's turn. Raises Unavailable when rclone does not start.

        Whoever leaves the block by an exception leaves a process in the middle of something: it is ended.
        """
        async with self._turns:
            worker = self._take() or await RcloneWorker.start(self._folder, self._environment)
            try:
                yield worker
            except BaseException:
                await asyncio.shield(self._tasks.create_task(worker.end()))
                raise
            worker.follow(None)
            self._keep(worker)

    @property
    def idle(self) -> int:
        """Processes that wait for the next transfer."""
        return len(self._idle)

    def _take(self) -> RcloneWorker | None:
        while self._idle:
            worker = self._idle.pop()
            self._endings.pop(worker).cancel()
            if worker.alive:
                return worker
            self._tasks.create_task(worker.end())
        return None

    def _keep(self, worker: RcloneWorker) -> None:
        self._idle.append(worker)
        loop = asyncio.get_running_loop()
        self._endings[worker] = loop.call_later(_IDLE_SECONDS, self._retire, worker)

    def _retire(self, worker: RcloneWorker) -> None:
        self._endings.pop(worker).cancel()
        self._idle.remove(worker)
        self._tasks.create_task(worker.end())
