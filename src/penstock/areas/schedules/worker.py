"""Work beside requests: the ledger kept complete, the streams kept in step with the schedules."""

from penstock.areas.schedules.closing import LedgerClosing
from penstock.areas.schedules.gap_accounting import GapAccounting
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.areas.schedules.streams import ScheduleStreams
from penstock.kernel.clock import Clock
from penstock.protocol import subjects
from penstock.protocol.report import ScheduleReport
from penstock.resource.area import Worker
from penstock.resource.reports import AgentReports


class LedgerTaker(Worker):
    """Takes in what agents report of due times and runs."""

    def __init__(self, reports: AgentReports, ledger: Ledger) -> None:
        self._reports = reports
        self._ledger = ledger

    async def run(self) -> None:
        await self._reports.consume(subjects.SCHEDULES, ScheduleReport, self._ledger.take)


class GapSweep(Worker):
    """Accounts for due times that no agent accounts for."""

    def __init__(self, clock: Clock, accounting: GapAccounting, closing: LedgerClosing, policy: SchedulePolicy) -> None:
        self._clock = clock
        self._accounting = accounting
        self._closing = closing
        self._policy = policy

    async def run(self) -> None:
        while True:
            await self._accounting.sweep()
            await self._closing.close_all()
            await self._clock.sleep_until(self._clock.now() + self._policy.account)


class StreamRepair(Worker):
    """Brings streams and schedules in step, should a process have died between the two."""

    def __init__(self, streams: ScheduleStreams, policy: SchedulePolicy) -> None:
        self._streams = streams
        self._policy = policy

    async def run(self) -> None:
        await self._streams.repair_every(self._policy.streams)
