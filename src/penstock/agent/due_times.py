"""When a flow is due, whether it runs or not: what its schedules say."""

from datetime import datetime, tzinfo

import msgspec

from penstock.flow.components.quartz import Quartz
from penstock.flow.definition import FlowDefinition
from penstock.kernel.cron import Cron
from penstock.kernel.due_span import Span, span_of


class DueTimes(msgspec.Struct, frozen=True):
    """The due times of all schedules of a flow together; none of a flow without schedule."""

    crons: tuple[Cron, ...]
    zone: tzinfo

    @classmethod
    def of(cls, definition: FlowDefinition, zone: tzinfo) -> "DueTimes":
        consumers = (route.consumer for route in definition.routes)
        return cls(tuple(each.cron for each in consumers if isinstance(each, Quartz)), zone)

    def span(self, after: datetime, until: datetime) -> Span | None:
        """The due times with after < time <= until; None when there are none."""
        if until <= after:
            return None
        spans = [span for cron in self.crons if (span := span_of(cron, after, until, self.zone)) is not None]
        if not spans:
            return None
        return Span(
            min(span.first for span in spans),
            max(span.last for span in spans),
            sum(span.count for span in spans),
        )
