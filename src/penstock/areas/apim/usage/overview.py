"""Use of APIs as it is asked for."""

from datetime import datetime, timedelta

from penstock.areas.apim.usage.counts import hours
from penstock.areas.apim.usage.model import ApiUsageDto, UsageFilter, UsageInterval
from penstock.areas.apim.usage.percentile import percentile
from penstock.areas.apim.usage.stored import REFUSED, UsageHour
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.protocol.gateway import UsageEntry
from penstock.resource.answer import Encoded
from penstock.resource.page import cut, page_size
from penstock.store.store import Store, Where

_MOST_SUMS = 50_000
_UNLESS_GIVEN = timedelta(days=1)
_SPANS = {UsageInterval.HOUR: timedelta(hours=1), UsageInterval.DAY: timedelta(days=1)}

_Group = tuple[datetime, str, str, str]


class UsageOverview:
    """Sums of the stored hours."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def of(self, wanted: UsageFilter) -> Encoded[list[ApiUsageDto]]:
        """Newest first, then by name. Raises Invalid."""
        since, until = self._period(wanted)
        sums = await self._sums(wanted, since, until)
        size = page_size(wanted.count)
        ordered = sorted(sorted(sums, key=lambda group: group[1:]), key=lambda group: group[0], reverse=True)
        page, following = cut(ordered[wanted.skip : wanted.skip + size + 1], size, wanted.skip)
        span = until - since if wanted.interval is None else _SPANS[wanted.interval]
        shown = [_shown(sums[group], group[0], group[0] + span) for group in page]
        return Encoded(encode(shown), next_skip=following)

    async def _sums(self, wanted: UsageFilter, since: datetime, until: datetime) -> dict[_Group, UsageEntry]:
        filters = {"api": wanted.api, "version": wanted.version, "subscription": wanted.subscription}
        where = [Where(column, "=", value) for column, value in filters.items() if value is not None]
        sums: dict[_Group, UsageEntry] = {}
        async for row in hours(self._store, where, since, until):
            group = _group(row, wanted.interval, since)
            if group in sums:
                sums[group].add(row.entry)
            else:
                sums[group] = row.entry
            if len(sums) > _MOST_SUMS:
                reason = f"asks for more than {_MOST_SUMS} sums: ask for less time, longer intervals or one API"
                raise Invalid.one("From", reason)
        return sums

    def _period(self, wanted: UsageFilter) -> tuple[datetime, datetime]:
        until = wanted.to or self._clock.now()
        since = wanted.from_ or until - _UNLESS_GIVEN
        if since > until:
            raise Invalid.one("From", "must not be after To")
        begin = _begin(since, wanted.interval)
        end = _begin(until, wanted.interval)
        return begin, end if end == until else end + _SPANS[wanted.interval or UsageInterval.HOUR]


def _group(row: UsageHour, interval: UsageInterval | None, since: datetime) -> _Group:
    begin = since if interval is None else _begin(row.hour, interval)
    return begin, row.entry.api, row.entry.version, row.entry.subscription or ""


def _begin(at: datetime, interval: UsageInterval | None) -> datetime:
    hour = at.replace(minute=0, second=0, microsecond=0)
    return hour.replace(hour=0) if interval is UsageInterval.DAY else hour


def _shown(entry: UsageEntry, begin: datetime, end: datetime) -> ApiUsageDto:
    calls = entry.calls
    return ApiUsageDto(
        api=entry.api,
        version=entry.version,
        subscription=entry.subscription,
        from_=begin,
        to=end,
        calls=calls,
        errors=sum(number for status, number in entry.statuses.items() if status >= 500),
        refused=sum(entry.statuses.get(status, 0) for status in REFUSED),
        statuses={str(status): number for status, number in sorted(entry.statuses.items())},
        received_bytes=entry.received,
        sent_bytes=entry.sent,
        average_milliseconds=round(entry.milliseconds / calls, 3) if calls else 0.0,
        p50_milliseconds=percentile(entry.latency, 0.5),
        p95_milliseconds=percentile(entry.latency, 0.95),
        p99_milliseconds=percentile(entry.latency, 0.99),
    )
