"""What installations may set about event sources."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from pathlib import Path


@dataclass(frozen=True)
class EventSourcePolicy:
    """How the servers run triggers.

    zone: of cron expressions on servers. folders: below which files triggers may read; none: no files.
    pause: seconds after a failure, longer and longer while a trigger goes on failing.
    repair: how often triggers that nobody sees to are looked for; overdue: when one counts as such.
    streams: how often streams are compared with event sources. orphan_after: one without a source is deleted when it
    is older.
    """

    zone: tzinfo = field(default=UTC)
    folders: Sequence[Path] = ()
    pause: float = 1.0
    repair: timedelta = timedelta(seconds=30)
    overdue: timedelta = timedelta(minutes=1)
    streams: timedelta = timedelta(minutes=10)
    orphan_after: timedelta = timedelta(minutes=10)
