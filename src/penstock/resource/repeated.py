"""Work that is done again and again."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from penstock.kernel.clock import Clock
from penstock.resource.area import Worker


class Repeated(Worker):
    """Does its work now, unless that is too early, and after each pause."""

    def __init__(
        self, clock: Clock, pause: timedelta, work: Callable[[], Awaitable[object]], *, at_once: bool = True
    ) -> None:
        self._clock = clock
        self._pause = pause
        self._work = work
        self._at_once = at_once

    async def run(self) -> None:
        if self._at_once:
            await self._work()
        while True:
            await self._clock.sleep_until(self._clock.now() + self._pause)
            await self._work()
