"""What the flow engine tells, passed on to the ledger and the outbox."""

from collections.abc import Callable, Sequence

from penstock.agent.ledger import Ledger
from penstock.agent.open_runs import OpenRuns
from penstock.agent.outbox import Outbox
from penstock.flow.listener import CommandRun, LogEntry, Tick
from penstock.kernel.ids import new_id
from penstock.protocol.report import LogLine


class AgentListener:
    """touched: the flows in which something happened, until someone clears it.

    on_failed: told the flow that cannot go on, its version and why.
    """

    def __init__(self, ledger: Ledger, runs: OpenRuns, outbox: Outbox) -> None:
        self._ledger = ledger
        self._runs = runs
        self._outbox = outbox
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
        self._outbox.log(
            LogLine(
                id=new_id(),
                at=entry.at,
                flow=entry.flow,
                level=entry.level,
                message=entry.message,
                exchange_id=entry.exchange_id,
                exception_type=entry.exception_type,
                exception_message=entry.exception_message,
                stack_trace=entry.stack_trace,
                context={"Logger": entry.logger},
            )
        )
