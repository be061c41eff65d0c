"""Notebooks that keep their kernels between runs."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import structlog

from penstock.engine.kernel_set import KernelSet
from penstock.kernel.errors import TooManyRequests

_log = structlog.get_logger(__name__)
_LOOK_SECONDS = 15.0


class _Notebook:
    """users: how many hold it or wait for it."""

    def __init__(self, kernels: KernelSet) -> None:
        self.kernels = kernels
        self.turn = asyncio.Lock()
        self.users = 0
        self.used_at = 0.0


class Notebooks:
    """At most `most`, of which the one that was not used for longest gives way; idle ones end after `idle` seconds."""

    def __init__(self, make: Callable[[], KernelSet], most: int, idle: float) -> None:
        self._make = make
        self._most = most
        self._idle = idle
        self._notebooks: OrderedDict[str, _Notebook] = OrderedDict()

    def __len__(self) -> int:
        return len(self._notebooks)

    @asynccontextmanager
    async def use(self, key: str, *, fresh: bool = False) -> AsyncIterator[KernelSet]:
        """The notebook's kernels, for one at a time. fresh: those it has are ended first.

        Raises TooManyRequests when all notebooks are in use.
        """
        notebook = await self._notebook(key)
        notebook.users += 1
        try:
            async with notebook.turn:
                if fresh:
                    await notebook.kernels.close()
                yield notebook.kernels
        finally:
            notebook.users -= 1
            notebook.used_at = asyncio.get_running_loop().time()
            if key in self._notebooks:
                self._notebooks.move_to_end(key)

    async def cull(self) -> None:
        """Ends idle kernels, until cancelled; then all."""
        try:
            while True:
                await asyncio.sleep(min(_LOOK_SECONDS, self._idle))
                before = asyncio.get_running_loop().time() - self._idle
                for key, notebook in list(self._notebooks.items()):
                    if not notebook.users and notebook.used_at < before:
                        await self._end(key)
        finally:
            for key in list(self._notebooks):
                await self._end(key)

    async def _notebook(self, key: str) -> _Notebook:
        while key not in self._notebooks and len(self._notebooks) >= self._most:
            unused = next((other for other, each in self._notebooks.items() if not each.users), None)
            if unused is None:
                raise TooManyRequests(f"{self._most} notebooks are in use; try again when one has finished", 5)
            await self._end(unused)
        return self._notebooks.setdefault(key, _Notebook(self._make()))

    async def _end(self, key: str) -> None:
        notebook = self._notebooks.pop(key)
        _log.info("notebook's kernels are ended", notebook=key)
        await notebook.kernels.close()
