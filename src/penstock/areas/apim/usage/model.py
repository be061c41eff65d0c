"""Use of APIs, and gateways, as the API answers them."""

from datetime import datetime
from enum import StrEnum

from penstock.kernel.wire import Int64, Wire
from penstock.resource.page import PageSize, Skip


class UsageInterval(StrEnum):
    """Into what the time is divided; hours and days are those of UTC."""

    HOUR = "hour"
    DAY = "day"


class UsageFilter(Wire):
    """From, To: cut to whole hours, with Interval `day` to whole days; 24 hours up to now unless given.

    Without Interval all of the time is one sum.
    """

    from_: datetime | None = None
    to: datetime | None = None
    api: str | None = None
    version: str | None = None
    subscription: str | None = None
    interval: UsageInterval | None = None
    count: PageSize | None = None
    skip: Skip = 0


class ApiUsageDto(Wire):
    """Calls of a subscription to a version. Subscription: null where no key was shown, or one that does not fit.

    Errors: answered with 500 and more. Refused: 401, 403 and 429. Milliseconds: until the answer was sent; the
    percentiles are estimates.
    """

    api: str
    version: str
    subscription: str | None = None
    from_: datetime
    to: datetime
    calls: Int64 = 0
    errors: Int64 = 0
    refused: Int64 = 0
    statuses: dict[str, int] = {}
    received_bytes: Int64 = 0
    sent_bytes: Int64 = 0
    average_milliseconds: float = 0.0
    p50_milliseconds: float = 0.0
    p95_milliseconds: float = 0.0
    p99_milliseconds: float = 0.0


class GatewayDto(Wire):
    """A gateway. Online: it was heard of within half a minute. Problem: why it does not serve the latest table.

    Stamp: names the table that it serves. UpToDate: that is what the servers would tell it now.
    """

    name: str
    address: str | None = None
    online: bool
    last_seen: datetime
    stamp: str | None = None
    up_to_date: bool = False
    applied_at: datetime | None = None
    problem: str | None = None
