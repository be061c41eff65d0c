"""Work beside requests: agents answered and told, their reports taken in."""

from penstock.areas.transfers.assignments import TransferAssignments, TransferCoverage
from penstock.areas.transfers.taken import TransferReports
from penstock.protocol import subjects
from penstock.protocol.transfer import TransferReport
from penstock.resource.area import Worker
from penstock.resource.assignment_worker import AssignmentLinks, AssignmentWorker
from penstock.resource.reports import AgentReports


class TransferAgents(AssignmentWorker):
    """Tells agents which file transfers they have."""

    def __init__(self, links: AssignmentLinks, assignments: TransferAssignments, coverage: TransferCoverage) -> None:
        super().__init__(links, assignments, coverage)


class TransferReportTaker(Worker):
    """Takes in what agents tell of file transfers."""

    def __init__(self, reports: AgentReports, taken: TransferReports) -> None:
        self._reports = reports
        self._taken = taken

    async def run(self) -> None:
        await self._reports.consume(subjects.TRANSFERS, TransferReport, self._taken.take)
