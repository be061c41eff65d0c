"""What agents report, durably and at least once: ticks, runs, states and log lines.

An agent writes a report to its own disk before it sends it, and sends it until it is acknowledged.
"""

from datetime import datetime
from enum import IntEnum, StrEnum
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Map, Wire
from penstock.protocol.status import IntegrationStatus


class TickOutcome(StrEnum):
    """How a due time ended."""

    FIRED = "fired"
    SKIPPED = "skipped"
    MISSED = "missed"


class TickReport(Wire):
    """One due time that fired, or a run of consecutive ones that did not.

    due, last_due: the first and the last due time covered; count: how many.
    reason: why a tick was skipped or missed, such as `stopped` or `agent away`.
    """

    flow: str
    version: str
    due: datetime
    last_due: datetime
    count: int = 1
    outcome: TickOutcome
    reason: str | None = None
    schedule: str | None = None


class RunStarted(Wire):
    """A command began. due: the tick that it runs for."""

    run_id: UUID
    flow: str
    version: str
    due: datetime | None = None
    started: datetime
    command: str
    schedule: str | None = None


class RunFinished(Wire):
    """A command ended.

    exit_code: None when it never started or was killed; error then says why.
    output: the end of what it wrote to standard output and error; output_bytes: how much that was in all.
    """

    run_id: UUID
    flow: str
    version: str
    due: datetime | None = None
    started: datetime
    finished: datetime
    duration: Duration
    exit_code: int | None = None
    error: str | None = None
    output: str = ""
    output_bytes: int = 0
    schedule: str | None = None


class ScheduleReport(Wire):
    """Body of `agent.<id>.report.schedules`, in the order in which things happened."""

    ticks: list[TickReport]
    started: list[RunStarted]
    finished: list[RunFinished]


class IntegrationFlowStatusEnum(IntEnum):
    """How a flow stands on an agent."""

    RUNNING = 0
    ERROR = 1
    STOPPED = 2
    UNKNOWN = 3


class FlowState(Wire):
    """How one flow stands on the reporting agent. removed: the agent no longer has it.

    message: what is wrong, or what it waits for. engine: name and version of what runs it.
    """

    name: str
    version: str
    status: IntegrationFlowStatusEnum
    at: datetime
    message: str | None = None
    removed: bool = False
    detail: IntegrationStatus | None = None
    engine: str | None = None


class FlowReport(Wire):
    """Body of `agent.<id>.report.flows`."""

    states: list[FlowState]


class LogLine(Wire):
    """One line that a flow logged. type: of what logs, when it is not a flow, such as `webjob`."""

    id: UUID
    at: datetime
    flow: str
    level: str
    message: str
    exchange_id: str | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    stack_trace: str | None = None
    context: Map | None = None
    type: str | None = None


class LogReport(Wire):
    """Body of `agent.<id>.report.logs`."""

    lines: list[LogLine]
