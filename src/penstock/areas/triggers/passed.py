"""The due times that nobody saw to."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from penstock.connectors.cadence import Cadence

_WINDOWS = (timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366))


@dataclass(frozen=True)
class Passed:
    """The first and the last of them, and how many."""

    first: datetime
    last: datetime
    count: int


def passed(cadence: Cadence, after: datetime, until: datetime) -> Passed | None:
    """The due times with after < time <= until; None when there is none."""
    if cadence.cron is None:
        count = max((until - after) // cadence.frequency, 0)
        return Passed(after + cadence.frequency, after + cadence.frequency * count, count) if count else None
    count = cadence.cron.count_between(after, until, cadence.zone)
    first = cadence.cron.next_after(after, cadence.zone)
    if not count or first is None:
        return None
    return Passed(first, _last(cadence, after, until) or first, count)


def _last(cadence: Cadence, after: datetime, until: datetime) -> datetime | None:
    """Looked for from the end, in ever longer stretches: there may be millions before."""
    assert cadence.cron is not None
    for window in _WINDOWS:
        found = list(cadence.cron.between(max(after, until - window), until, cadence.zone))
        if found:
            return found[-1]
    return None
