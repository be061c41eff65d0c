"""Kernels started ahead, each for one run only."""

import asyncio
from collections import deque

import structlog

from penstock.engine.channels import KernelLost
from penstock.engine.kernel import Kernel
from penstock.engine.languages import PYTHON, Language
from penstock.engine.starter import KernelStarter
from penstock.kernel.errors import Unavailable

_log = structlog.get_logger(__name__)
_PAUSE = 5.0
_GRACE = 0.05


class KernelPool:
    """Keeps `size` kernels of Python ready while `keep_filled` runs."""

    def __init__(self, starter: KernelStarter, size: int) -> None:
        self._starter = starter
        self._size = size
        self._ready: deque[Kernel] = deque()
        self._taken = asyncio.Event()

    @property
    def ready(self) -> int:
        """How many kernels wait."""
        return len(self._ready)

    async def take(self, language: Language) -> Kernel:
        """A kernel that nobody has used; whoever takes it closes it. Raises KernelLost, Unavailable."""
        while self._ready and language.name == PYTHON:
            kernel = self._ready.popleft()
            self._taken.set()
            if kernel.alive:
                return kernel
            await kernel.close()
        return await self._starter.start(language)

    async def renew(self) -> None:
        """Ends the kernels that wait, so that newer ones take their place."""
        outdated, self._ready = self._ready, deque()
        self._taken.set()
        for kernel in outdated:
            await kernel.close()

    async def keep_filled(self) -> None:
        """Until cancelled; then the kernels that wait are ended."""
        python = Language(PYTHON, "Python", PYTHON)
        try:
            while True:
                self._taken.clear()
                if len(self._ready) < self._size:
                    await self._add(python)
                else:
                    await self._taken.wait()
                    await asyncio.sleep(_GRACE)  # whoever took it needs the processor now
        finally:
            for kernel in self._ready:
                await kernel.close()

    async def _add(self, language: Language) -> None:
        try:
            self._ready.append(await self._starter.start(language))
        except (KernelLost, Unavailable) as error:
            _log.error("kernel cannot be started ahead", reason=error.detail)
            await asyncio.sleep(_PAUSE)
