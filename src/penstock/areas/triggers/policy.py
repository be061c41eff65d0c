"""What installations may set about triggers."""

from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo


@dataclass(frozen=True)
class TriggerPolicy:
    """How triggers run.

    zone: of cron expressions. late: how long after its time a due time still fires. wait: how long a request to a
    route waits for the result. at_once: runs of one route in progress on a server. repair: how often schedules
    that nobody sees to are looked for; overdue: when one counts as such.
    """

    zone: tzinfo = field(default=UTC)
    late: timedelta = timedelta(seconds=30)
    wait: timedelta = timedelta(seconds=30)
    at_once: int = 32
    repair: timedelta = timedelta(seconds=30)
    overdue: timedelta = timedelta(minutes=1)
