"""Calls summed up for a report."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime

from penstock.gateway.logged_call import LoggedCall, RouteName, route_named
from penstock.protocol.gateway import BUCKETS_MS, UsageEntry

MOST_ENTRIES = 5000
"""In one report: some 2 MB, and a message on the bus may have 8."""


def hour_of(at: datetime) -> datetime:
    """When its hour began."""
    return at.replace(minute=0, second=0, microsecond=0)


class HourSum:
    """The calls of one hour. since, until: when the first and the last of them began."""

    def __init__(self, at: datetime) -> None:
        self.since = at
        self.until = at
        self._entries: dict[RouteName, UsageEntry] = {}

    def add(self, route: RouteName, call: LoggedCall) -> None:
        self.since, self.until = min(self.since, call.time), max(self.until, call.time)
        entry = self._entries.get(route)
        if entry is None:
            entry = self._entries[route] = _empty(route)
        entry.statuses[call.status] = entry.statuses.get(call.status, 0) + 1
        entry.latency[bisect_left(BUCKETS_MS, call.ms)] += 1
        entry.milliseconds += call.ms
        entry.received += call.received
        entry.sent += call.sent

    def parts(self) -> list[list[UsageEntry]]:
        """The entries, in pieces that a report can carry."""
        entries = list(self._entries.values())
        return [entries[start : start + MOST_ENTRIES] for start in range(0, len(entries), MOST_ENTRIES)]


def merged(first: Iterable[UsageEntry], second: Iterable[UsageEntry]) -> list[UsageEntry]:
    """The calls of both, one entry for each version and subscription."""
    found: dict[tuple[str, str, str | None], UsageEntry] = {}
    for entry in (*first, *second):
        found.setdefault((entry.api, entry.version, entry.subscription), _empty(entry)).add(entry)
    return list(found.values())


def sums(calls: Iterable[LoggedCall]) -> list[HourSum]:
    """A sum for each hour in which calls began, in their order; calls that found no version are left out."""
    hours: dict[datetime, HourSum] = {}
    routes: dict[str | None, RouteName | None] = {}
    for call in calls:
        if call.route not in routes:
            routes[call.route] = route_named(call.route)
        route = routes[call.route]
        if route is None:
            continue
        hour = hour_of(call.time)
        if hour not in hours:
            hours[hour] = HourSum(call.time)
        hours[hour].add(route, call)
    return [hours[hour] for hour in sorted(hours)]


def _empty(of: RouteName | UsageEntry) -> UsageEntry:
    return UsageEntry(
        api=of.api,
        version=of.version,
        subscription=of.subscription,
        statuses={},
        latency=[0] * (len(BUCKETS_MS) + 1),
    )
