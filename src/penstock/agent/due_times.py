"""When a flow is due, whether it runs or not: what its schedules say."""

from datetime import datetime, timedelta, tzinfo

import msgspec

from penstock.flow.components.quartz import Quartz
from penstock.flow.definition import FlowDefinition
from penstock.kernel.cron import Cron

_SECOND = timedelta(seconds=1)


class Span(msgspec.Struct, frozen=True):
    """Due times in a row: the first, the last, and how many."""

    first: datetime
    last: datetime
    count: int


class DueTimes(msgspec.Struct, frozen=True):
    """The due times of all schedules of a flow together; none of a flow without schedule."""

    crons: tuple[Cron, ...]
    zone: tzinfo

    @classmethod
    def of(cls, definition: FlowDefinition, zone: tzinfo) -> "DueTimes":
        consumers = (route.consumer for route in definition.routes)
        return cls(tuple(each.cron for each in consumers if isinstance(each, Quartz)), zone)

    def span(self, after: datetime, until: datetime) -> Span | None:
        """The due times with after < time <= until; None when there are none. Takes no time per due time."""
        if until <= after:
            return None
        spans = [span for cron in self.crons if (span := _span(cron, after, until, self.zone)) is not None]
        if not spans:
            return None
        return Span(
            min(span.first for span in spans),
            max(span.last for span in spans),
            sum(span.count for span in spans),
        )


def _span(cron: Cron, after: datetime, until: datetime, zone: tzinfo) -> Span | None:
    first = cron.next_after(after, zone)
    if first is None or first > until:
        return None
    return Span(first, _last(cron, first, until, zone), cron.count_between(after, until, zone))


def _last(cron: Cron, first: datetime, until: datetime, zone: tzinfo) -> datetime:
    """The last due time up to `until`; `first` is one. Halves the time that it lies in."""
    low, high = first, until
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        later = cron.next_after(middle, zone)
        if later is not None and later <= high:
            low = later
        else:
            high = middle
    later = cron.next_after(low, zone)
    return later if later is not None and later <= high else low
