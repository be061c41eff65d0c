"""What flows logged: taken from the agents, kept for 30 days, found by where, when and how serious."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.flows.catalog import FlowCatalog, FlowEntry
from penstock.areas.flows.log_entry import FLOW_LOGS, IntegrationLogItem, LogEntry, LogFilter
from penstock.kernel.errors import Invalid, NotFound
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.protocol.report import LogLine, LogReport
from penstock.protocol.status import IntegrationLogMessage
from penstock.protocol.web_job import LOG_TYPE, PREFIX
from penstock.resource.answer import Encoded
from penstock.resource.page import cut, page_size
from penstock.resource.ports.agents import AgentDirectory, KnownAgent
from penstock.store.column import LONGEST
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append

_ENVIRONMENT = "environment"
_MOST_LINES = 1000


class FlowLogs:
    """The journal of log lines."""

    def __init__(self, store: Store, catalog: FlowCatalog, directory: AgentDirectory) -> None:
        self._store = store
        self._catalog = catalog
        self._directory = directory

    async def take(self, reports: Sequence[tuple[UUID, LogReport]]) -> None:
        """Keeps the lines; those kept before are passed over."""
        agents = {agent.id: agent for agent in await self._directory.agents()}
        flows = await self._catalog.named({line.flow for _, report in reports for line in report.lines})
        entries = [
            _entry(line, agent_id, agents.get(agent_id), flows.get(name_key(line.flow)))
            for agent_id, report in reports
            for line in report.lines
            if _fits(line)
        ]
        for start in range(0, len(entries), _MOST_LINES):
            await self._store.commit([Append(FLOW_LOGS, entries[start : start + _MOST_LINES])])

    async def of_flow(self, name: str, count: int) -> list[IntegrationLogMessage]:
        """A flow's latest lines, newest first. Raises NotFound."""
        where = [Where("flow", "=", name)]
        is_flow = bool(await self._catalog.stored([name]))
        if not is_flow:  # web jobs that agents keep running are none, and log as if they were
            where.append(Where("type", "=", LOG_TYPE))
        bodies = await self._store.entries(FLOW_LOGS, where, limit=count)
        if not bodies and not is_flow:
            raise NotFound.of("flow", name)
        return [decode(body, LogEntry).line() for body in bodies]

    async def find(self, wanted: LogFilter) -> Encoded[list[IntegrationLogItem]]:
        """A page of lines, newest first."""
        size = page_size(wanted.count)
        try:
            bodies = await self._store.entries(
                FLOW_LOGS,
                _conditions(wanted),
                since=wanted.from_date,
                until=wanted.to_date,
                skip=wanted.skip,
                limit=size + 1,
            )
        except Invalid:  # what no column can hold, no line has
            bodies = []
        page, following = cut(bodies, size, wanted.skip)
        return Encoded.array([encode(decode(body, LogEntry).item()) for body in page], following)


def _conditions(wanted: LogFilter) -> list[Where]:
    asked = {
        "type": wanted.integration_type,
        "flow": wanted.integration_name,
        "agent": wanted.agent_id,
        "environment": wanted.environment,
        "exchange": wanted.exchange_id,
        "level": wanted.log_level,
    }
    return [Where(column, "=", value) for column, value in asked.items() if value is not None]


def _fits(line: LogLine) -> bool:
    indexed = (line.flow, line.level, line.exchange_id or "")
    return all(len(text.encode(errors="replace")) <= LONGEST and "\0" not in text for text in indexed)


def _entry(line: LogLine, agent_id: UUID, agent: KnownAgent | None, flow: FlowEntry | None) -> LogEntry:
    return LogEntry(
        id=line.id,
        at=line.at,
        type=_type_of(line, flow),
        flow=line.flow,
        agent_id=agent_id,
        agent=agent.name if agent is not None else str(agent_id),
        environment=_environment(agent),
        exchange_id=line.exchange_id,
        level=line.level,
        message=line.message,
        exception_type=line.exception_type,
        exception_message=line.exception_message,
        stack_trace=line.stack_trace,
        context=line.context,
    )


def _type_of(line: LogLine, flow: FlowEntry | None) -> str:
    if line.type == LOG_TYPE or (flow is not None and (flow.schedule or "").startswith(PREFIX)):
        return LOG_TYPE
    return "schedule" if flow is not None and flow.schedule else "flow"


def _environment(agent: KnownAgent | None) -> str | None:
    """What the agent's capability Environment says."""
    offered = agent.capabilities if agent is not None else ()
    return next((each.value for each in offered if (each.identifier or "").casefold() == _ENVIRONMENT), None)
