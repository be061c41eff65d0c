"""How far the due times of a flow are accounted for, and what becomes of those that pass without firing."""

from datetime import datetime

import msgspec

from penstock.agent.due_times import DueTimes
from penstock.kernel.due_span import Span
from penstock.protocol.report import TickOutcome, TickReport

AGENT_AWAY = "agent away"
STOPPED = "stopped"
NOT_STARTED_YET = "not started on the agent yet"


class Rule(msgspec.Struct, frozen=True):
    """What a due time means that passes without firing.

    version, schedule: of the flow that it is due for. due_times: None when the flow cannot be read.
    """

    flow: str
    version: str
    schedule: str | None
    due_times: DueTimes | None
    outcome: TickOutcome
    reason: str

    def passed(self, after: datetime, until: datetime) -> list[TickReport]:
        """The report on the due times with after < time <= until: one, or none when there are none."""
        span = self.due_times.span(after, until) if self.due_times is not None else None
        return [self._report(span)] if span is not None else []

    def because(self, outcome: TickOutcome, reason: str) -> "Rule":
        return msgspec.structs.replace(self, outcome=outcome, reason=reason)

    def _report(self, span: Span) -> TickReport:
        return TickReport(
            flow=self.flow,
            version=self.version,
            due=span.first,
            last_due=span.last,
            count=span.count,
            outcome=self.outcome,
            reason=self.reason,
            schedule=self.schedule,
        )


class Account(msgspec.Struct):
    """until: every due time up to here is told. running: the engine tells of each due time after it."""

    until: datetime
    rule: Rule | None = None
    running: bool = False


class Gap(msgspec.Struct, frozen=True):
    """A time at which no agent ran, from after `after` to `until`."""

    after: datetime
    until: datetime
