"""Keeps the areas' workers running beside the requests."""

import asyncio
from collections.abc import Sequence

import structlog

from penstock.resource.area import Worker

log = structlog.get_logger(__name__)

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


async def run_workers(workers: Sequence[Worker]) -> None:
    """Runs all until cancelled. One that fails is logged and started anew, ever more slowly; others go on."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(_keep_running(worker), name=type(worker).__name__)


async def _keep_running(worker: Worker) -> None:
    pause = _FIRST_PAUSE
    loop = asyncio.get_running_loop()
    while True:
        started = loop.time()
        try:
            await worker.run()
        except Exception:
            log.exception("worker failed", worker=type(worker).__name__, again_in_seconds=pause)
        else:
            log.warning("worker ended by itself", worker=type(worker).__name__, again_in_seconds=pause)
        pause = _FIRST_PAUSE if loop.time() - started > _LONGEST_PAUSE else min(pause * 2, _LONGEST_PAUSE)
        await asyncio.sleep(pause)
