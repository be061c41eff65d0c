"""What the flow engine tells, passed on to the ledger, the log and whoever keeps flows running."""

from collections.abc import Callable, Sequence

from penstock.agent.flow_log import FlowLog
from penstock.agent.ledger import Ledger
from penstock.agent.open_runs import OpenRuns
from penstock.flow.listener import CommandRun, LogEntry, Tick


class AgentListener:
    """touched: the flows in which something happened, until someone clears it.

    on_failed: told the flow that cannot go on, its version and why.
    """

    def __init__(self, ledger: Ledger, runs: OpenRuns, log: FlowLog) -> None:
        self._ledger = ledger
        self._runs = runs
        self._log = log
        self.touched: set[str] = set()
        self.on_failed: Callable[[str, str, str], None] = lambda flow, version, reason: None

    async def ticks(self, ticks: Sequence[Tick]) -> None:
        self.touched.update(tick.flow for tick in ticks)
        await self._ledger.tick(ticks)

    async def run_started(self, run: CommandRun) -> None:
        await self._runs.started(run, self._ledger.schedule(run.flow))

    async def run_finished(self, run: CommandRun) -> None:
        self.touched.add(run.flow)
        self._runs.finished(run, self._ledger.schedule(run.flow))

    def flow_failed(self, flow: str, version: str, reason: str) -> None:
        self.touched.add(flow)
        self.on_failed(flow, version, reason)

    def log(self, entry: LogEntry) -> None:
        self.touched.add(entry.flow)
        self._log.add(entry)
