"""Entities as the HTTP API shows them (specification 1, "Eventing resources")."""

from datetime import datetime

from penstock.kernel.duration import Duration
from penstock.kernel.entity import NEVER
from penstock.kernel.wire import Int64, UInt64, Wire


class EntityStoreDto(Wire):
    """A value of an entity. Data: its text. Updated: when it was stored; in a request it has no effect."""

    type: str | None = None
    id: str | None = None
    data: str | None = None
    updated: datetime = NEVER


class EntityStoreSearchResults(Wire):
    """What was found, newest first. LimitReached: there is more than the limit allowed."""

    data: list[EntityStoreDto] | None = None
    limit_reached: bool


class EntityStoreInfo(Wire):
    """The store as a whole. MaxSize: bytes, -1 without a limit. MaximumAge: of a value, 00:00:00 without a limit.

    HistoryKept: values per entity. Size: bytes on the disk.
    """

    entities_stored: Int64
    entities_stored_including_history: UInt64
    history_kept: Int64
    size: UInt64
    max_size: Int64
    maximum_age: Duration


class KeyValuePairOfStringAndString(Wire):
    """The latest value of an entity. Key: its key in the bucket, `<type>.<id>`."""

    key: str | None = None
    value: str | None = None
