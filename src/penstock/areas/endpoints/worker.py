"""Work beside requests: endpoints given to agents, their reports taken in."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from penstock.areas.endpoints.assignments import EndpointAssignments, EndpointCoverage
from penstock.areas.endpoints.service import EndpointService
from penstock.areas.endpoints.states import EndpointStates
from penstock.areas.endpoints.stored import ENDPOINT_STATES
from penstock.bus.bus import Bus
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentReport
from penstock.resource.area import Worker
from penstock.resource.assignment_worker import AssignmentLinks, AssignmentWorker
from penstock.resource.changes import Changes
from penstock.resource.matching import Matching
from penstock.resource.reports import AgentReports


class EndpointNotices:
    """Tells agents that their endpoints may have changed."""

    def __init__(self, bus: Bus, matching: Matching) -> None:
        self._bus = bus
        self._matching = matching

    async def tell_all(self) -> None:
        for agent in (await self._matching.matcher()).known:
            await self._bus.notify(subjects.assigned(agent.id, subjects.ENDPOINTS))


class EndpointAgents(AssignmentWorker):
    """Gives endpoints to agents."""

    def __init__(self, links: AssignmentLinks, assignments: EndpointAssignments, coverage: EndpointCoverage) -> None:
        super().__init__(links, assignments, coverage)


class EndpointReportTaker(Worker):
    """Takes in what agents report, and tells that endpoints may stand otherwise."""

    def __init__(self, reports: AgentReports, states: EndpointStates, changes: Changes) -> None:
        self._reports = reports
        self._states = states
        self._changes = changes

    async def run(self) -> None:
        await self._reports.consume(subjects.ENDPOINTS, AssignmentReport, self._take)

    async def _take(self, reports: Sequence[tuple[UUID, AssignmentReport]]) -> None:
        await self._states.take_reports(reports)
        await self._changes.tell(ENDPOINT_STATES.name)


class EndpointSealRenewal(Worker):
    """Seals secrets anew after the master key was changed; looks once, when the server starts."""

    def __init__(self, endpoints: EndpointService) -> None:
        self._endpoints = endpoints

    async def run(self) -> None:
        await self._endpoints.renew_seals()
        await asyncio.get_running_loop().create_future()
