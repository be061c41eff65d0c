"""Work beside requests: agents answered and told, their reports taken in, flows without agents found."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

import msgspec

from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.areas.flows.logs import FlowLogs
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.states import FlowStates
from penstock.bus.bus import Bus
from penstock.bus.message import Answer, Received
from penstock.bus.subscription import Subscription
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import Wire, encode
from penstock.protocol import subjects
from penstock.protocol.report import FlowReport, LogReport
from penstock.protocol.signature import HEADER, NONCE, Signer, challenge
from penstock.protocol.work import DigestQuery, VariableQuery, WorkQuery
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes
from penstock.resource.ports import AgentDirectory
from penstock.resource.reports import AgentReports
from penstock.store.store import decode

Q = TypeVar("Q", bound=Wire)

_CHECK_SECONDS = 10.0
_AT_ONCE = 8


class AgentQuestions(Worker):
    """Answers what agents ask; each answer is signed for its question."""

    def __init__(self, bus: Bus, desired: DesiredState, signer: Signer) -> None:
        self._bus = bus
        self._desired = desired
        self._signer = signer

    async def run(self) -> None:
        responders = [
            await self._respond(subjects.DIGEST, DigestQuery, self._desired.digest),
            await self._respond(subjects.WORK, WorkQuery, self._desired.work),
            await self._respond(subjects.VARIABLES, VariableQuery, self._desired.variables),
        ]
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for responder in responders:
                await responder.stop()

    async def _respond(self, what: str, query: type[Q], answer: Callable[[UUID, Q], Awaitable[Wire]]) -> Subscription:
        async def respond(request: Received) -> Answer:
            # The bus lets an agent ask on its own subjects only, so the subject says who asks.
            found = await answer(subjects.agent_of(request.subject), _read(request, query))
            body = encode(found)
            asked = challenge(request.subject, request.headers.get(NONCE, ""))
            return Answer(body, {HEADER: self._signer.sign(asked, body)})

        subject = subjects.ask("*", what)
        return await self._bus.respond(subject, respond, queue=subjects.SERVERS, concurrency=_AT_ONCE)


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


def _read(request: Received, query: type[Q]) -> Q:
    """The question; what a newer agent adds to it is passed over. Raises Invalid."""
    try:
        return decode(request.data, query)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid.one("", f"the question cannot be read: {error}") from None
