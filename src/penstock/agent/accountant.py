"""Looks after what no event brings up: due times that pass while flows rest, ticks whose run never began."""

import asyncio
from datetime import timedelta

from penstock.agent.ledger import Ledger
from penstock.agent.open_runs import NEVER_BEGAN, OpenRuns
from penstock.flow.engine import FlowEngine
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound

_PASSED_SECONDS = 60.0
_RUNS_SECONDS = 5.0
_PATIENCE = timedelta(seconds=5)
_AT_ONCE = 50


class Accountant:
    """`tell_passed` and `tell_unbegun` run as tasks, until cancelled."""

    def __init__(self, ledger: Ledger, runs: OpenRuns, engine: FlowEngine, clock: Clock) -> None:
        self._ledger = ledger
        self._runs = runs
        self._engine = engine
        self._clock = clock

    async def tell_passed(self) -> None:
        """Each minute: one range for each flow that rests and was due."""
        while True:
            await asyncio.sleep(_PASSED_SECONDS)
            resting = self._ledger.resting()
            for start in range(0, len(resting), _AT_ONCE):
                await self._ledger.tell_passed(resting[start : start + _AT_ONCE], self._clock.now())
                await asyncio.sleep(0)

    async def tell_unbegun(self) -> None:
        """Ticks of flows that process nothing any more will have no run: an earlier step failed."""
        while True:
            await asyncio.sleep(_RUNS_SECONDS)
            for flow in self._runs.waiting(self._clock.now() - _PATIENCE):
                try:
                    status = self._engine.status(flow)
                except NotFound:
                    continue  # told when it was stopped
                if not status.statistics.exchanges_inflight:
                    await self._runs.never_began(flow, status.error or NEVER_BEGAN)
