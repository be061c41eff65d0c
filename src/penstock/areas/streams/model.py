"""Message streams as the HTTP API shows them (specification 1, "Eventing resources")."""

from datetime import datetime

from penstock.kernel.wire import Int32, Int64, Map, UInt64, Wire
from penstock.resource.page import PageSize, Skip


class StreamInfo(Wire):
    """A stream. Configuration: the bus's settings of the stream, as JSON."""

    name: str | None = None
    messages: UInt64
    created: datetime
    bytes: UInt64
    is_mirror: bool
    replicas: Int32
    consumers: Int64
    configuration: str | None = None


class StreamMessage(Wire):
    """A message of a stream; Sequence grows with each, perhaps with gaps."""

    subject: str | None = None
    data: bytes | None = None
    timestamp: datetime
    sequence: UInt64
    headers: Map | None = None


class MessageFilter(Wire):
    """Which messages: from FromDate to ToDate, both included, newest first, Count of them after Skip."""

    from_date: datetime | None = None
    to_date: datetime | None = None
    count: PageSize | None = None
    skip: Skip = 0
