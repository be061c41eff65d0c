"""What installations may set about schedules."""

from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo


@dataclass(frozen=True)
class SchedulePolicy:
    """How the servers account for due times that no agent accounts for.

    zone: the servers' time zone; agents have their own.
    account: how often due times that nobody ran are written down.
    close_after: how long after its deprecation an agent's own last reports are waited for.
    streams: how often streams are compared with schedules. orphan_after: one without a schedule is deleted when it
    is older; a younger one may belong to a schedule that is being applied.
    """

    zone: tzinfo = field(default=UTC)
    account: timedelta = timedelta(seconds=10)
    close_after: timedelta = timedelta(minutes=1)
    streams: timedelta = timedelta(minutes=10)
    orphan_after: timedelta = timedelta(minutes=10)
