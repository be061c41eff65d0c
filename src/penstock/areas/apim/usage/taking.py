"""Reports of gateways taken in: each call is counted once, whatever dies in between.

Reports of a source come in the order of their numbers, perhaps again. Those that are new go into the sums of their
hours in one commit with the numbers reached; a commit that finds these changed by another replica changes nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
import structlog

from penstock.areas.apim.usage.metrics import CALLS
from penstock.areas.apim.usage.stored import (
    API_USAGE,
    KEEP,
    TAKEN,
    TAKEN_ID,
    TakenReports,
    TakenSource,
    UsageHour,
    slot,
)
from penstock.bus.message import StoredMessage
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.protocol.gateway import BUCKETS_MS, UsageEntry, UsageReport
from penstock.protocol.subjects import gateway_of
from penstock.resource.changes import Changes
from penstock.resource.ports.api_usage import USAGE_CHANGES
from penstock.store.store import Document, Store, Where, decode
from penstock.store.write import Append, Insert, Replace, Write

log = structlog.get_logger(__name__)

_SLOTS_AT_ONCE = 1000
_SKEW = timedelta(days=1)
_MOST = 2**53


class UsageTaking:
    """Writes the sums."""

    def __init__(self, store: Store, clock: Clock, changes: Changes) -> None:
        self._store = store
        self._clock = clock
        self._changes = changes

    async def take(self, messages: Sequence[StoredMessage]) -> None:
        """Takes reports in the order of the stream. Raises Unavailable, Stale: nothing of them is counted then."""
        document = await self._store.get(TAKEN, TAKEN_ID)
        taken = decode(document.body, TakenReports) if document is not None else TakenReports()
        now = self._clock.now()
        new = [report for message in messages if (report := _read(message)) is not None and _is_new(report, taken, now)]
        entries = _entries(new, now)
        if not new:
            return
        rows = await self._rows(entries)
        await self._store.commit([Append(API_USAGE, rows, replace=True), self._noted(document, taken, now)])
        for report in new:
            for entry in report.entries:
                CALLS.count(entry)
        await self._changes.tell(
            USAGE_CHANGES, *sorted({e.subscription for _, e in entries.values() if e.subscription})
        )

    async def _rows(self, entries: Mapping[str, tuple[datetime, UsageEntry]]) -> list[UsageHour]:
        """The sums with the calls that are new."""
        slots = list(entries)
        rows = {key: UsageHour(hour=hour, entry=entry) for key, (hour, entry) in entries.items()}
        for start in range(0, len(slots), _SLOTS_AT_ONCE):
            where = [Where("slot", "in", slots[start : start + _SLOTS_AT_ONCE])]
            for body in await self._store.entries(API_USAGE, where, limit=_SLOTS_AT_ONCE):
                stored = decode(body, UsageHour)
                rows[stored.key].entry.add(stored.entry)
        return list(rows.values())

    def _noted(self, document: Document | None, taken: TakenReports, now: datetime) -> Write:
        sources = {name: source for name, source in taken.sources.items() if now - source.at < KEEP}
        body, e_tag = TakenReports(sources=sources), new_id().hex
        if document is None:
            return Insert(TAKEN, TAKEN_ID, e_tag, body, now)
        return Replace(TAKEN, TAKEN_ID, e_tag, body, now, expected=document.e_tag)


def _read(message: StoredMessage) -> UsageReport | None:
    """The report, as of the gateway whose subject it came on; None when it cannot be understood."""
    try:
        report = decode(message.data, UsageReport)
        int(report.id.rpartition("-")[2])
    except (msgspec.DecodeError, ValueError) as error:
        log.error("unreadable report of a gateway dropped", subject=message.subject, reason=str(error))
        return None
    return msgspec.structs.replace(report, gateway=gateway_of(message.subject))


def _is_new(report: UsageReport, taken: TakenReports, now: datetime) -> bool:
    """Whether it was not taken in before; it is from now on."""
    source, _, number = report.id.rpartition("-")
    name = f"{report.gateway}/{source}"
    before = taken.sources.get(name)
    if before is not None and int(number) <= before.number:
        return False
    taken.sources[name] = TakenSource(number=int(number), at=now)
    return True


def _entries(reports: Sequence[UsageReport], now: datetime) -> dict[str, tuple[datetime, UsageEntry]]:
    """What the reports say together, by slot. What cannot be so is dropped: no later try could take it."""
    found: dict[str, tuple[datetime, UsageEntry]] = {}
    for report in reports:
        hour = report.since.replace(minute=0, second=0, microsecond=0)
        if not now - KEEP < hour < now + _SKEW:
            log.error("report of a gateway with a wrong time dropped", gateway=report.gateway, since=str(report.since))
            continue
        report.entries[:] = [entry for entry in report.entries if _is_sound(entry, report)]
        for entry in report.entries:
            key = slot(hour, entry)
            if key in found:
                found[key][1].add(entry)
            else:
                found[key] = (hour, msgspec.structs.replace(entry, statuses=dict(entry.statuses)))
    return found


def _is_sound(entry: UsageEntry, report: UsageReport) -> bool:
    names = [entry.api, entry.version, *([entry.subscription] if entry.subscription is not None else [])]
    numbers = [*entry.statuses.values(), *entry.latency, entry.milliseconds, entry.received, entry.sent]
    sound = (
        not any(name_errors("", name) for name in names)
        and all(0 <= number < _MOST for number in numbers)
        and len(entry.latency) == len(BUCKETS_MS) + 1
    )
    if not sound:
        log.error("entry of a gateway's report dropped", gateway=report.gateway, report=report.id)
    return sound
