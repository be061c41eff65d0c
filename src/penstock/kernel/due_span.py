"""Due times in a row, without going through each of them."""

from datetime import datetime, timedelta, tzinfo

import msgspec

from penstock.kernel.cron import Cron

_SECOND = timedelta(seconds=1)


class Span(msgspec.Struct, frozen=True):
    """The first due time, the last, and how many."""

    first: datetime
    last: datetime
    count: int


def span_of(cron: Cron, after: datetime, until: datetime, zone: tzinfo) -> Span | None:
    """The due times with after < time <= until; None when there are none. Takes no time per due time."""
    first = cron.next_after(after, zone)
    if first is None or first > until:
        return None
    return Span(first, _last(cron, first, until, zone), cron.count_between(after, until, zone))


def _last(cron: Cron, first: datetime, until: datetime, zone: tzinfo) -> datetime:
    """The last due time up to `until`: halves the time that it lies in, of which `low` always is one."""
    low, high = first, until
    while high - low > _SECOND:
        middle = low + (high - low) / 2
        later = cron.next_after(middle, zone)
        if later is None or later > until:
            high = middle
        else:
            low = later
    following = cron.next_after(low, zone)
    return following if following is not None and following <= until else low
