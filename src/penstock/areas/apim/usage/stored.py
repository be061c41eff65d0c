"""How use is stored: a sum for each hour, version and subscription; and what was taken in, so that it counts once."""

from datetime import datetime, timedelta
from uuid import UUID

from penstock.kernel.wire import Wire
from penstock.protocol.gateway import UsageEntry
from penstock.store.definition import Collection, Column, ColumnType, Journal

KEEP = timedelta(days=90)
REFUSED = frozenset({401, 403, 429})


class UsageHour(Wire):
    """hour: when it begins, in UTC."""

    hour: datetime
    entry: UsageEntry

    @property
    def key(self) -> str:
        return slot(self.hour, self.entry)

    @property
    def accepted(self) -> int:
        """Calls that were not refused."""
        return self.entry.calls - sum(self.entry.statuses.get(status, 0) for status in REFUSED)


class TakenSource(Wire):
    """number: of the last report that was taken in. at: when."""

    number: int
    at: datetime


class TakenReports(Wire):
    """sources: by the gateway and the source that it names in its reports."""

    sources: dict[str, TakenSource] = {}


TAKEN_ID = UUID("0192a000-0000-7000-8000-000000000001")
"""Of the one document of its collection."""


def slot(hour: datetime, entry: UsageEntry) -> str:
    """Names the hour of a version and subscription; names have no spaces."""
    return f"{hour:%Y-%m-%dT%H} {entry.api} {entry.version} {entry.subscription or ''}"


API_USAGE: Journal[UsageHour] = Journal(
    "api_usage",
    UsageHour,
    at=lambda row: row.hour,
    key=lambda row: row.key,
    columns=(
        Column("slot", lambda row: row.key),
        Column("api", lambda row: row.entry.api, ColumnType.KEY),
        Column("version", lambda row: row.entry.version, ColumnType.KEY),
        Column("subscription", lambda row: row.entry.subscription, ColumnType.KEY),
    ),
    keep=KEEP,
)
TAKEN: Collection[TakenReports] = Collection("api_usage_taken", TakenReports)
