"""Entries of the tick ledger: what became of each due time, and the runs."""

from datetime import datetime, timedelta
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.names import name_key
from penstock.kernel.wire import Wire
from penstock.protocol.report import TickOutcome
from penstock.resource.page import PageSize, Skip
from penstock.store.definition import Column, ColumnType, Journal

_KEEP = timedelta(days=30)


class ScheduleTick(Wire):
    """One due time that fired, or several in a row that did not.

    agent_id: the agent that the due times were this one's to run; null when no agent matched.
    due, last_due: the first and the last due time; count: how many.
    """

    schedule: str
    flow: str
    version: str
    agent_id: UUID | None = None
    due: datetime
    last_due: datetime
    count: int = 1
    outcome: TickOutcome
    reason: str | None = None

    @property
    def key(self) -> str:
        """The same for the same due time, however often it is told."""
        return f"{line_of(self.agent_id, self.flow)}/{self.due.isoformat()}"


class RunEntry(Wire):
    """The begin or the end of a run, as told."""

    run_id: UUID
    is_end: bool
    schedule: str
    version: str
    agent_id: UUID
    due: datetime | None = None
    started: datetime
    command: str | None = None
    finished: datetime | None = None
    duration: Duration | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str = ""
    output_bytes: int = 0

    @property
    def key(self) -> str:
        # Agents choose the ids of their runs: one must not be able to suppress another's.
        return f"{self.agent_id}/{self.run_id}/{'end' if self.is_end else 'begin'}"


class ScheduleRun(Wire):
    """One run of a schedule's command. Finished is null while it runs.

    exit_code: null when it never started or was killed; error then says why.
    output: the end of what it wrote; output_bytes: how much that was in all.
    """

    run_id: UUID
    agent_id: UUID
    version: str
    due: datetime | None = None
    started: datetime
    command: str | None = None
    finished: datetime | None = None
    duration: Duration | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str = ""
    output_bytes: int = 0


class ClosedLedger(Wire):
    """The servers accounted for what a deprecated agent left open, up to its deprecation."""

    agent_id: UUID
    at: datetime

    @property
    def key(self) -> str:
        return f"{self.agent_id}/{self.at.isoformat()}"


class PageFilter(Wire):
    """FromDate <= time < ToDate, newest first."""

    from_date: datetime | None = None
    to_date: datetime | None = None
    skip: Skip = 0
    count: PageSize | None = None
    limit: PageSize | None = None


class TickFilter(PageFilter):
    """Which due times. Outcome: fired, skipped or missed."""

    outcome: TickOutcome | None = None


def line_of(agent_id: UUID | None, flow: str) -> str:
    """Names the account of one agent, or of none, for one flow."""
    return f"{agent_id or 'none'}/{name_key(flow)}"


TICKS: Journal[ScheduleTick] = Journal(
    "schedule_ticks",
    ScheduleTick,
    at=lambda tick: tick.due,
    key=lambda tick: tick.key,
    columns=(
        Column("schedule", lambda tick: tick.schedule, ColumnType.KEY),
        Column("outcome", lambda tick: tick.outcome),
        Column("line", lambda tick: line_of(tick.agent_id, tick.flow)),
    ),
    keep=_KEEP,
)
RUNS: Journal[RunEntry] = Journal(
    "schedule_runs",
    RunEntry,
    at=lambda run: run.started,
    key=lambda run: run.key,
    columns=(
        # Only begins are listed by schedule, only ends are looked up by run.
        Column("schedule", lambda run: None if run.is_end else run.schedule, ColumnType.KEY),
        Column("ended", lambda run: run.key if run.is_end else None),
    ),
    keep=_KEEP,
)
CLOSED_LEDGERS: Journal[ClosedLedger] = Journal(
    "closed_ledgers", ClosedLedger, at=lambda closed: closed.at, key=lambda closed: closed.key
)
