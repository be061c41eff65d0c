"""An agent as the servers see it: speaks the protocol over the real bus, and runs nothing."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.credentials import UserCredential, agent_inbox
from penstock.bus.message import Received
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire, encode
from penstock.protocol import subjects
from penstock.protocol.capability import AgentCapability, CapabilityType
from penstock.protocol.registration import AgentConfiguration
from penstock.protocol.report import (
    FlowReport,
    FlowState,
    IntegrationFlowStatusEnum,
    LogLine,
    LogReport,
    ScheduleReport,
)
from penstock.protocol.signature import HEADER, NONCE, challenge, verified
from penstock.protocol.status import AgentEndpointManagerStatusEnum2, AgentStatusPing
from penstock.protocol.work import (
    Digest,
    DigestQuery,
    VariableAnswer,
    VariableQuery,
    WorkAnswer,
    WorkItem,
    WorkQuery,
)
from tests.application import Application

W = TypeVar("W", bound=Wire)


def capabilities_of(values: Mapping[str, str]) -> list[AgentCapability]:
    """Configured capabilities, as an agent reports them."""
    return [
        AgentCapability(identifier=name, value=value, capability_type=CapabilityType.CONFIGURED)
        for name, value in values.items()
    ]


async def register(
    application: Application, name: str, capabilities: Mapping[str, str] | None = None
) -> tuple[UUID, str]:
    """A new agent's id and credential."""
    pending = await application.admin.post("/agents/create", json="test pool")
    assert pending.status_code == 200, pending.text
    answer = await application.anonymous.post(
        "/agent/register",
        json={
            "Name": name,
            "Token": pending.json()["Token"],
            "InitialCapabities": msgspec.to_builtins(capabilities_of(capabilities or {})),
        },
    )
    assert answer.status_code == 200, answer.text
    return UUID(answer.json()["Id"]), answer.json()["ValidationToken"]


class AgentLink:
    """A registered agent, connected to the bus with its own credential."""

    def __init__(self, configuration: AgentConfiguration, credential: str, bus: Bus) -> None:
        self.configuration = configuration
        self.credential = credential
        self.bus = bus
        self.capabilities: Mapping[str, str] = {}
        self.told: list[list[str]] = []

    @property
    def id(self) -> UUID:
        return self.configuration.agent_id

    async def ping(self, **fields: Any) -> None:
        fields.setdefault("capabilities", capabilities_of(self.capabilities))
        sign_of_life = AgentStatusPing(agent_id=self.id, system_status=AgentEndpointManagerStatusEnum2.EMPTY, **fields)
        await self.bus.notify(subjects.ping(self.id), encode(sign_of_life))

    async def digest(self) -> dict[str, str]:
        """name -> stamp, of all pages."""
        entries: dict[str, str] = {}
        after: str | None = None
        while True:
            page = await self.ask(subjects.DIGEST, DigestQuery(after=after), Digest)
            entries |= {entry.name: entry.stamp for entry in page.entries}
            if page.next is None:
                return entries
            after = page.next

    async def work(self, *names: str) -> dict[str, WorkItem]:
        answer = await self.ask(subjects.WORK, WorkQuery(names=list(names)), WorkAnswer)
        return {item.name: item for item in answer.items}

    async def variables(self, *names: str) -> VariableAnswer:
        return await self.ask(subjects.VARIABLES, VariableQuery(names=list(names)), VariableAnswer)

    async def ask(self, what: str, query: Wire, answer: type[W]) -> W:
        """Asks the servers and checks that they signed the answer to this very question."""
        subject, nonce = subjects.ask(self.id, what), uuid4().hex
        received = await self.bus.request(subject, encode(query), headers={NONCE: nonce})
        signature = received.headers[HEADER]
        assert verified(self.configuration.server_key, challenge(subject, nonce), received.data, signature)
        found: W = decode_json(received.data, answer)
        return found

    async def report_states(self, *states: FlowState) -> None:
        await self._report(subjects.FLOWS, FlowReport(states=list(states)))

    async def report_state(
        self, flow: str, status: IntegrationFlowStatusEnum, version: str = "1", **fields: Any
    ) -> None:
        fields.setdefault("at", datetime.now(UTC))
        await self.report_states(FlowState(name=flow, version=version, status=status, **fields))

    async def report_lines(self, *lines: LogLine) -> None:
        await self._report(subjects.LOGS, LogReport(lines=list(lines)))

    async def report_schedules(self, **parts: Sequence[Any]) -> None:
        lists = {name: list(parts.get(name, ())) for name in ("ticks", "started", "finished")}
        await self._report(subjects.SCHEDULES, ScheduleReport(**lists))

    async def _report(self, kind: str, body: Wire) -> None:
        await self.bus.publish(subjects.report(self.id, kind), encode(body))

    async def _note(self, received: Received) -> None:
        self.told.append(received.data.decode().split())


@asynccontextmanager
async def linked_agent(
    application: Application, name: str, capabilities: Mapping[str, str] | None = None
) -> AsyncIterator[AgentLink]:
    """Registers an agent, connects it and lets it ping once."""
    _, credential = await register(application, name, capabilities)
    async with reconnected_agent(application, credential, capabilities) as link:
        yield link


@asynccontextmanager
async def reconnected_agent(
    application: Application, credential: str, capabilities: Mapping[str, str] | None = None
) -> AsyncIterator[AgentLink]:
    """Connects a registered agent and lets it ping once."""
    async with application.client(Authorization=f"Bearer {credential}") as client:
        answer = await client.get("/agent/configuration")
    assert answer.status_code == 200, answer.text
    configuration = msgspec.json.decode(answer.json(), type=AgentConfiguration)
    async with await Bus.connect(
        configuration.bus_servers,
        UserCredential(configuration.bus_jwt, configuration.bus_seed),
        name="test-agent",
        inbox_prefix=agent_inbox(configuration.agent_id),
    ) as bus:
        link = AgentLink(configuration, credential, bus)
        link.capabilities = capabilities or {}
        await bus.subscribe(subjects.changed(link.id), link._note)
        await link.ping()
        yield link
