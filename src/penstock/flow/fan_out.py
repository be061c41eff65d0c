"""Taking several exchanges that were made from one through their steps, one after the other or side by side."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step

_SIDE_BY_SIDE = 10  # as many as Camel's default thread pool has


class PartFailed(FlowError):
    """One of the exchanges failed, and the others were to stop then; the cause says why."""

    code = "part-failed"
    title = "One of the parts failed"
    java = ("org.apache.camel.CamelExchangeException",)


class Part(NamedTuple):
    """One of the exchanges, and what is done with it."""

    exchange: Exchange
    steps: Sequence[Step]


class FanOut:
    """parallel: side by side. stops: when one fails, the rest is left out and the whole fails.

    done: is told of each exchange when it has ended well, in their order unless they go side by side.
    """

    def __init__(self, flow: FlowContext, parallel: bool, stops: bool, done: Callable[[Exchange], None]) -> None:
        self._flow = flow
        self._parallel = parallel
        self._stops = stops
        self._done = done
        self._failure: Exception | None = None

    async def take(self, parts: Iterable[Part], whole: Exchange) -> None:
        """Raises the last failure once all have ended, or PartFailed at once when it is to stop.

        No error handler looks at it again: that of each exchange has.
        """
        if self._parallel:
            await self._side_by_side(parts, whole)
        else:
            for number, part in enumerate(parts):
                if not await self._one(number, part, whole):
                    break
        if self._failure is not None:
            whole.exhausted = self._failure
            raise self._failure

    async def _side_by_side(self, parts: Iterable[Part], whole: Exchange) -> None:
        numbered = enumerate(parts)

        async def worker() -> None:
            for number, part in numbered:
                if not await self._one(number, part, whole):
                    raise _Stopped

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(_SIDE_BY_SIDE):
                    workers.create_task(worker())
        except* _Stopped:
            pass  # told by what made it stop

    async def _one(self, number: int, part: Part, whole: Exchange) -> bool:
        """Whether the others go on."""
        try:
            await take_through(part.steps, part.exchange, self._flow)
        except Exception as error:  # noqa: BLE001 - kept until all have ended
            if not self._stops:
                self._failure = error
                return True
            self._failure = PartFailed(f"part number {number} failed: {error}")
            self._failure.__cause__ = error
            return False
        if self._stops and part.exchange.stopped:
            whole.stopped = True
            return False
        self._done(part.exchange)
        return True


class _Stopped(Exception):
    """Ends those that go side by side with one that failed."""
