"""Work beside requests: agents answered and told, their reports taken in."""

from penstock.areas.webjobs.assignments import WebJobAssignments, WebJobCoverage, WebJobStates
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentReport
from penstock.resource.area import Worker
from penstock.resource.assignment_worker import AssignmentLinks, AssignmentWorker
from penstock.resource.reports import AgentReports


class WebJobAgents(AssignmentWorker):
    """Gives web jobs to agents."""

    def __init__(self, links: AssignmentLinks, assignments: WebJobAssignments, coverage: WebJobCoverage) -> None:
        super().__init__(links, assignments, coverage)


class WebJobReportTaker(Worker):
    """Takes in how web jobs stand on agents."""

    def __init__(self, reports: AgentReports, states: WebJobStates) -> None:
        self._reports = reports
        self._states = states

    async def run(self) -> None:
        await self._reports.consume(subjects.WEB_JOBS, AssignmentReport, self._states.take_reports)
