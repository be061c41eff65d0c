"""Watches over a run: time, memory, disk, output."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from penstock.engine.kernel import LimitReached
from penstock.engine.kernel_set import KernelSet
from penstock.engine.output import Output
from penstock.engine.settings import EngineSettings
from penstock.engine.usage import ProcessTable, disk_of

_LOOK_SECONDS = 0.25
_MOST_OUTPUTS = 10_000
_MEBIBYTE = 1 << 20


class OutputBudget:
    """Counts what a run shows. spent: done when that is too much."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most
        self._outputs = 0
        self.spent: asyncio.Future[LimitReached] = asyncio.get_running_loop().create_future()

    def end(self, limit: LimitReached) -> None:
        """From here on nothing is shown: it is of code that was told to stop. The first limit holds."""
        if not self.spent.done():
            self.spent.set_result(limit)

    def take(self, output: Output) -> bool:
        """Whether the output may still be shown."""
        self._left -= output.size
        self._outputs += 1
        if self.spent.done():
            return False
        if self._left < 0 or output.cut:
            self.end(LimitReached(f"the run wrote more than {self._most // _MEBIBYTE} MiB"))
            return output.cut
        if self._outputs > _MOST_OUTPUTS:
            self.end(LimitReached(f"the run showed more than {_MOST_OUTPUTS} outputs"))
            return False
        return True


class Allowance(msgspec.Struct, frozen=True):
    """What a run may have. seconds: of time; memory, disk: bytes."""

    seconds: float
    memory: int
    disk: int

    @classmethod
    def of(cls, settings: EngineSettings, seconds: float | None) -> "Allowance":
        return cls(min(seconds or settings.run_seconds, settings.run_seconds), settings.memory, settings.disk)


async def within(
    allowance: Allowance, work: Coroutine[Any, Any, bool], kernels: KernelSet, budget: OutputBudget, table: ProcessTable
) -> bool:
    """What `work` answers. Raises LimitReached once it is cancelled for going over a limit, and what `work` raises."""
    working = asyncio.create_task(work, name="run")
    watching = asyncio.create_task(_watch(allowance, kernels, table), name="watch over a run")
    try:
        ends: set[asyncio.Future[Any]] = {working, watching, budget.spent}
        await asyncio.wait(ends, timeout=allowance.seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if watching.done():
            budget.end(watching.result())
            await kernels.close()  # at once: whatever goes on takes more
        budget.end(LimitReached(f"the run took longer than {allowance.seconds:g} s"))
        raise budget.spent.result()
    finally:
        watching.cancel()
        working.cancel()
        await asyncio.wait([working, watching])


async def _watch(allowance: Allowance, kernels: KernelSet, table: ProcessTable) -> LimitReached:
    """Returns when the kernels have too much."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        for kernel in kernels.running:
            if await asyncio.to_thread(table.memory_of, kernel.pid, allowance.memory) > allowance.memory:
                return LimitReached(f"the run used more than {allowance.memory // _MEBIBYTE} MiB of memory")
            if await asyncio.to_thread(disk_of, kernel.folders.work) > allowance.disk:
                return LimitReached(f"the run wrote more than {allowance.disk // _MEBIBYTE} MiB of files")
