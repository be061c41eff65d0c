"""Work beside requests: agents answered and told, their reports taken in, flows without agents found."""

import asyncio

import msgspec

from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.areas.flows.logs import FlowLogs
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.states import FlowStates
from penstock.areas.flows.vitals import FlowVitals
from penstock.bus.bus import Bus
from penstock.bus.message import Received
from penstock.protocol import subjects
from penstock.protocol.report import FlowReport, LogReport
from penstock.protocol.status import AgentStatusPing
from penstock.protocol.work import DigestQuery, FileQuery, VariableQuery, WorkQuery
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes
from penstock.resource.ports.agents import AgentDirectory
from penstock.resource.reports import AgentReports
from penstock.store.store import decode

_CHECK_SECONDS = 10.0


class WorkQuestions(Worker):
    """Answers what agents ask about their flows."""

    def __init__(self, questions: AgentQuestions, desired: DesiredState) -> None:
        self._questions = questions
        self._desired = desired

    async def run(self) -> None:
        responders = [
            await self._questions.respond(subjects.DIGEST, DigestQuery, self._desired.digest),
            await self._questions.respond(subjects.WORK, WorkQuery, self._desired.work),
            await self._questions.respond(subjects.VARIABLES, VariableQuery, self._desired.variables),
            await self._questions.respond(subjects.FILES, FileQuery, self._desired.file),
        ]
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for responder in responders:
                await responder.stop()


class NoticeSender(Worker):
    """Tells agents what changed for them."""

    def __init__(self, notices: AgentNotices) -> None:
        self._notices = notices

    async def run(self) -> None:
        await self._notices.send()


class FlowStateTaker(Worker):
    """Takes in how flows stand on agents."""

    def __init__(self, reports: AgentReports, states: FlowStates) -> None:
        self._reports = reports
        self._states = states

    async def run(self) -> None:
        await self._reports.consume(subjects.FLOWS, FlowReport, self._states.take)


class FlowLogTaker(Worker):
    """Takes in what flows log."""

    def __init__(self, reports: AgentReports, logs: FlowLogs) -> None:
        self._reports = reports
        self._logs = logs

    async def run(self) -> None:
        await self._reports.consume(subjects.LOGS, LogReport, self._logs.take)


class VitalsListener(Worker):
    """Hears what agents tell of their flows with each sign of life, on every replica."""

    def __init__(self, bus: Bus, vitals: FlowVitals) -> None:
        self._bus = bus
        self._vitals = vitals

    async def run(self) -> None:
        hearing = await self._bus.subscribe(subjects.ping("*"), self._hear)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await hearing.stop()

    async def _hear(self, received: Received) -> None:
        try:
            agent = subjects.agent_of(received.subject)
            ping = decode(received.data, AgentStatusPing)
        except (ValueError, msgspec.DecodeError):  # whoever stores the ping says so
            return
        self._vitals.hear(agent, ping.integration_flow_status_list or ())


class CoverageWatch(Worker):
    """Looks for flows that lost or found their agents, whenever agents change and every ten seconds."""

    def __init__(self, changes: Changes, coverage: Coverage, notices: AgentNotices, directory: AgentDirectory) -> None:
        self._changes = changes
        self._coverage = coverage
        self._notices = notices
        self._directory = directory
        self._changed = asyncio.Event()

    async def run(self) -> None:
        following = await self._changes.follow("agents", self._react)
        try:
            while True:
                self._changed.clear()
                await self._coverage.check()
                await self._wait()
        finally:
            await following.stop()

    async def _react(self, change: Change) -> None:
        self._changed.set()
        for agent in await self._directory.agents(fresh=True):
            if agent.name in change.names or not change.names:
                await self._notices.tell_all(agent.id)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await self._changed.wait()
        except TimeoutError:
            return
