"""The servers as an agent sees them: registration over HTTP, questions and reports over the real bus, all in memory."""

import asyncio
import os
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from penstock.bus.bus import Bus
from penstock.bus.follow import Feed, Start, follow
from penstock.bus.message import Answer, Received
from penstock.bus.streams import Streams, StreamSpec
from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.kernel.ids import new_id
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire, encode
from penstock.protocol import subjects
from penstock.protocol.assignment import (
    AssignmentAnswer,
    AssignmentItem,
    AssignmentQuery,
    AssignmentReport,
    AssignmentState,
)
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventReport, EventSourceStatus, EventSourceStatusEnum
from penstock.protocol.registration import AgentConfiguration, AgentRegistrationData, AgentRegistrationDto
from penstock.protocol.report import (
    FlowReport,
    FlowState,
    LogLine,
    LogReport,
    RunFinished,
    RunStarted,
    ScheduleReport,
    TickReport,
)
from penstock.protocol.signature import HEADER, NONCE, Signer, challenge
from penstock.protocol.status import AgentStatusPing
from penstock.protocol.work import (
    Digest,
    DigestEntry,
    DigestQuery,
    FileAnswer,
    FileQuery,
    IntegrationStatusEnum2,
    VariableAnswer,
    VariableQuery,
    VariableValue,
    WorkAnswer,
    WorkItem,
    WorkQuery,
)
from tests.nats_server import NatsServer, eventually

PING_SECONDS = 0.3
RESYNC_SECONDS = 1.0
PIECE = 300_000
S = TypeVar("S", bound=Wire)


@dataclass
class Told:
    """What an agent has reported, each message once."""

    ticks: list[TickReport] = field(default_factory=list)
    started: list[RunStarted] = field(default_factory=list)
    finished: list[RunFinished] = field(default_factory=list)
    states: list[FlowState] = field(default_factory=list)
    lines: list[LogLine] = field(default_factory=list)
    pings: list[AgentStatusPing] = field(default_factory=list)
    events: list[CloudEvent] = field(default_factory=list)
    assigned: dict[str, list[AssignmentState]] = field(default_factory=lambda: defaultdict(list))

    def take(self, kind: str, body: bytes) -> None:
        match kind:
            case subjects.SCHEDULES:
                report: ScheduleReport = decode_json(body, ScheduleReport)
                self.ticks += report.ticks
                self.started += report.started
                self.finished += report.finished
            case subjects.FLOWS:
                self.states += decode_json(body, FlowReport).states
            case subjects.LOGS:
                self.lines += decode_json(body, LogReport).lines
            case subjects.EVENTS:
                found: EventReport = decode_json(body, EventReport)
                self.events += [CloudEvent.from_json(bytes(each.event)) for each in found.events]
                self.assigned[subjects.SOURCES] += found.states
            case _:
                self.assigned[kind] += decode_json(body, AssignmentReport).states

    def status(self, flow: str) -> FlowState | None:
        return next((state for state in reversed(self.states) if state.name == flow), None)

    def statuses(self, kind: str, status: type[S], key: UUID | None = None) -> list[S]:
        """What was told of the assigned work of a kind, or of one item of it, the latest last."""
        found = [state for state in self.assigned[kind] if key in (None, state.key)]
        return [decode_json(bytes(state.status), status) for state in found]

    def source(self, id: UUID) -> EventSourceStatusEnum | None:
        """How an event source stands, by the latest report."""
        return next((each.status for each in self.statuses(subjects.SOURCES, EventSourceStatus, id)[-1:]), None)

    def runs(self, flow: str) -> list[RunFinished]:
        return [run for run in self.finished if run.flow == flow]


class Servers:
    """One replica's worth of servers for any number of agents, all of which get the same work."""

    def __init__(self, nats: NatsServer, bus: Bus, address: str, seen: int) -> None:
        self.nats = nats
        self.bus = bus
        self.address = address
        self.signer = Signer(os.urandom(32))
        self.tokens = {"token-1"}
        self.credentials: dict[str, UUID] = {}
        self.told: dict[UUID, Told] = {}
        self.items: dict[str, WorkItem] = {}
        self.ended: dict[str, datetime] = {}
        self.contents: dict[str, bytes] = {}
        self.variables: dict[str, VariableValue] = {}
        self.variable_questions: list[list[str]] = []
        self.assigned: dict[str, dict[UUID, AssignmentItem]] = defaultdict(dict)
        self.digests = 0
        self.bus_lives = timedelta(hours=1)
        self.resync_seconds = RESYNC_SECONDS
        self.bus_servers = [nats.url]
        self.refusal: int | None = None
        self.forge = False
        self.page = 1000
        self._seen = seen

    @property
    def agent(self) -> UUID:
        """The only agent."""
        [agent] = self.credentials.values()
        return agent

    @property
    def of_agent(self) -> Told:
        return self.told[self.agent]

    def put(
        self,
        name: str,
        spec: str,
        *,
        started: bool = True,
        schedule: str | None = None,
        since: datetime | None = None,
        version: str | None = None,
    ) -> WorkItem:
        """Makes a flow work of the agents, or another version of it; they have yet to be told."""
        item = WorkItem(
            name=name,
            stamp=new_id().hex,
            version=version or new_id().hex[-8:],
            requested=IntegrationStatusEnum2.STARTED if started else IntegrationStatusEnum2.STOPPED,
            since=since or datetime.now(UTC),
            spec=spec,
            schedule=schedule,
        )
        self.items[name] = item
        return item

    def schedule(self, name: str, cron: str, *command: str, **options: Any) -> WorkItem:
        """Makes the flow of a Schedule work of the agents."""
        spec = scheduled_command(f"schedule-{name}", cron, command[0], command[1:])
        return self.put(f"schedule-{name}", spec, schedule=name, **options)

    def request(self, name: str, *, started: bool) -> None:
        """Asks for the flow to be started or stopped."""
        status = IntegrationStatusEnum2.STARTED if started else IntegrationStatusEnum2.STOPPED
        self.items[name] = msgspec.structs.replace(
            self.items[name], stamp=new_id().hex, requested=status, since=datetime.now(UTC)
        )

    def remove(self, name: str) -> None:
        del self.items[name]
        self.ended[name] = datetime.now(UTC)

    async def tell(self, *names: str) -> None:
        """Tells every agent that work changed; no names: that any may have."""
        for agent in self.credentials.values():
            await self.bus.notify(subjects.changed(agent), "\n".join(names).encode())

    async def caught_up(self) -> None:
        """Returns when all reports that the stream has now have been taken in."""
        last = (await Streams(self.bus).info(subjects.REPORT_STREAM)).state.last_seq
        await eventually(lambda: self._seen >= last)

    def assign(self, kind: str, body: Wire, key: UUID | None = None, *, has_secrets: bool = False) -> UUID:
        """Makes an item work of the agents, or another version of it; they have yet to be told. Answers its key."""
        item = AssignmentItem(
            key=key or new_id(), stamp=new_id().hex, has_secrets=has_secrets, body=msgspec.Raw(encode(body))
        )
        self.assigned[kind][item.key] = item
        return item.key

    async def tell_assigned(self, kind: str) -> None:
        """Tells every agent that its work of a kind may have changed."""
        for agent in self.credentials.values():
            await self.bus.notify(subjects.assigned(agent, kind))

    async def register(self, request: Request) -> Response:
        data: AgentRegistrationData = decode_json(await request.body(), AgentRegistrationData)
        if self.refusal is not None:
            return Response(b'{"detail": "not now"}', self.refusal)
        if data.token not in self.tokens:
            return Response(b'{"detail": "the token is not valid"}', 401)
        self.tokens.discard(data.token)
        agent, credential = uuid4(), new_id().hex
        self.credentials[credential] = agent
        self.told[agent] = Told()
        return _json(AgentRegistrationDto(id=agent, name=data.name, validation_token=credential))

    async def configuration(self, request: Request) -> Response:
        if self.refusal is not None:
            return Response(b'{"detail": "not now"}', self.refusal)
        agent = self.credentials.get(request.headers.get("X-API-Key", ""))
        if agent is None:
            return Response(b'{"detail": "the credential is not valid"}', 401)
        expires = datetime.now(UTC) + self.bus_lives
        user = self.nats.keys.agent_user(agent, expires)
        document = AgentConfiguration(
            agent_id=agent,
            agent_name="agent",
            bus_servers=self.bus_servers,
            bus_jwt=user.jwt,
            bus_seed=user.seed,
            bus_expires=expires,
            server_key=self.signer.public_key,
            ping_seconds=PING_SECONDS,
            resync_seconds=self.resync_seconds,
        )
        return _json(encode(document).decode())

    async def answer(self, request: Received) -> Answer:
        """Answers an agent's question, signed."""
        if subjects.agent_of(request.subject) not in self.told:
            raise LookupError("another test's agent")
        body = encode(self._answer(request.subject.rsplit(".", 1)[1], request.data))
        signer = Signer(os.urandom(32)) if self.forge else self.signer
        signature = signer.sign(challenge(request.subject, request.headers[NONCE]), body)
        return Answer(body, {HEADER: signature})

    def _answer(self, what: str, body: bytes) -> Wire:
        match what:
            case subjects.DIGEST:
                self.digests += 1
                return self._digest(decode_json(body, DigestQuery).after or "")
            case subjects.WORK:
                names = decode_json(body, WorkQuery).names
                items = [self.items[name] for name in names if name in self.items]
                ended = {name: self.ended[name] for name in names if name in self.ended and name not in self.items}
                return WorkAnswer(items=items, left=[], ended=ended)
            case subjects.FILES:
                wanted = decode_json(body, FileQuery)
                begin = wanted.number * PIECE
                content = self.contents.get(wanted.sha256, b"")[begin : begin + PIECE]
                return FileAnswer(content=content or None)
            case _ if not what.endswith(subjects.VARIABLES):
                return self._items(self.assigned[what], decode_json(body, AssignmentQuery))
            case _:
                names = decode_json(body, VariableQuery).names
                self.variable_questions.append(names)
                return VariableAnswer(values={name: self.variables[name] for name in names if name in self.variables})

    def _items(self, items: dict[UUID, AssignmentItem], query: AssignmentQuery) -> AssignmentAnswer:
        """One item on a page, so that agents have to turn pages."""
        left = sorted(key for key in items if query.after is None or key > query.after)
        answer = AssignmentAnswer(items=[], unchanged=[], next=left[0] if len(left) > 1 else None)
        for key in left[:1]:
            if query.stamps.get(str(key)) == items[key].stamp:
                answer.unchanged.append(key)
            else:
                answer.items.append(items[key])
        return answer

    def _digest(self, after: str) -> Digest:
        names = sorted(name for name in self.items if name > after)
        page = names[: self.page]
        entries = [DigestEntry(name=name, stamp=self.items[name].stamp) for name in page]
        return Digest(entries=entries, next=page[-1] if len(names) > len(page) else None)

    async def hear(self, message: Received) -> None:
        told = self.told.get(subjects.agent_of(message.subject))
        if told is not None:
            told.pings.append(decode_json(message.data, AgentStatusPing))

    async def follow(self, feed: Feed) -> None:
        """Takes reports from their stream, until cancelled."""
        async for message in feed:
            self._seen = message.sequence
            told = self.told.get(subjects.agent_of(message.subject))
            if told is not None:
                told.take(message.subject.rsplit(".", 1)[1], message.data)


@asynccontextmanager
async def running_servers(nats: NatsServer) -> AsyncIterator[Servers]:
    """Serves HTTP on a free port and answers on the bus."""
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(await nats.connect())
        stream = await Streams(bus).ensure(StreamSpec(name=subjects.REPORT_STREAM, subjects=["agent.*.report.>"]))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        servers = Servers(nats, bus, address, stream.state.last_seq)
        feed = await stack.enter_async_context(follow(bus, subjects.REPORT_STREAM, Start(new=True)))
        subscriptions = [
            await bus.respond(subjects.ask("*", ">"), servers.answer, queue=subjects.SERVERS),
            await bus.subscribe(subjects.ping("*"), servers.hear),
        ]
        for subscription in subscriptions:
            stack.push_async_callback(subscription.stop)
        await stack.enter_async_context(_in_background(servers.follow(feed)))
        await stack.enter_async_context(_serving(servers, listener))
        yield servers


@asynccontextmanager
async def _serving(servers: Servers, listener: socket.socket) -> AsyncIterator[None]:
    routes = [
        Route("/agent/register", servers.register, methods=["POST"]),
        Route("/agent/configuration", servers.configuration, methods=["GET"]),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off"))
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _json(value: Any) -> Response:
    return Response(encode(value), media_type="application/json")
