"""Lines that flows logged."""

from datetime import datetime, timedelta
from uuid import UUID

from penstock.kernel.wire import Map, Wire
from penstock.protocol.status import IntegrationLogMessage
from penstock.resource.page import PageSize, Skip
from penstock.store.definition import Column, ColumnType, Journal


class IntegrationLogItem(Wire):
    """One line, with where it was logged. Agent: the agent's name."""

    timestamp: datetime
    agent: str | None = None
    environment: str | None = None
    exchange_id: str | None = None
    integration_name: str | None = None
    log_level: str | None = None
    message: str | None = None
    stacktrace: str | None = None
    context: Map | None = None


class LogFilter(Wire):
    """Which lines, newest first. FromDate <= time < ToDate; names, types and levels compare without case.

    IntegrationType: `flow`, `schedule` or `webjob`. AgentId: the agent's id.
    """

    from_date: datetime | None = None
    to_date: datetime | None = None
    integration_type: str | None = None
    integration_name: str | None = None
    agent_id: str | None = None
    environment: str | None = None
    exchange_id: str | None = None
    log_level: str | None = None
    count: PageSize | None = None
    skip: Skip = 0


class LogEntry(Wire):
    """A line as it is kept."""

    id: UUID
    at: datetime
    type: str
    flow: str
    agent_id: UUID
    agent: str
    environment: str | None = None
    exchange_id: str | None = None
    level: str
    message: str
    exception_type: str | None = None
    exception_message: str | None = None
    stack_trace: str | None = None
    context: Map | None = None

    def item(self) -> IntegrationLogItem:
        """Of the list of all lines."""
        return IntegrationLogItem(
            timestamp=self.at,
            agent=self.agent,
            environment=self.environment,
            exchange_id=self.exchange_id,
            integration_name=self.flow,
            log_level=self.level,
            message=self.message,
            stacktrace=self.stack_trace,
            context=self.context,
        )

    def line(self) -> IntegrationLogMessage:
        """Of one flow's lines."""
        return IntegrationLogMessage(
            id=self.id,
            time_stamp=self.at,
            log_level=self.level,
            message=self.message,
            exception_message=self.exception_message,
            exception_type=self.exception_type,
            stack_trace=self.stack_trace,
        )


FLOW_LOGS: Journal[LogEntry] = Journal(
    "flow_logs",
    LogEntry,
    at=lambda entry: entry.at,
    # Agents choose the ids of their lines: one must not be able to suppress another's.
    key=lambda entry: f"{entry.agent_id}/{entry.id}",
    columns=(
        Column("type", lambda entry: entry.type, ColumnType.KEY),
        Column("flow", lambda entry: entry.flow, ColumnType.KEY),
        Column("agent", lambda entry: str(entry.agent_id), ColumnType.KEY),
        Column("environment", lambda entry: entry.environment, ColumnType.KEY),
        Column("exchange", lambda entry: entry.exchange_id),
        Column("level", lambda entry: entry.level, ColumnType.KEY),
    ),
    keep=timedelta(days=30),
)
