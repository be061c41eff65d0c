"""Calls summed up for a report."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime

from penstock.gateway.logged_call import LoggedCall, RouteName, route_named
from penstock.kernel.wire import parse_time
from penstock.protocol.gateway import BUCKETS_MS, UsageEntry

MOST_ENTRIES = 5000
"""In one report: some 2 MB, and a message on the bus may have 8."""


class HourSum:
    """The calls of one hour. since, until: when the first and the last of them began."""

    def __init__(self, at: datetime) -> None:
        self.since = at
        self.until = at
        self._entries: dict[RouteName, UsageEntry] = {}

    def add(self, route: RouteName, at: datetime, call: LoggedCall) -> None:
        self.since, self.until = min(self.since, at), max(self.until, at)
        entry = self._entries.get(route)
        if entry is None:
            entry = self._entries[route] = UsageEntry(
                api=route.api,
                version=route.version,
                subscription=route.subscription,
                statuses={},
                latency=[0] * (len(BUCKETS_MS) + 1),
            )
        entry.statuses[call.status] = entry.statuses.get(call.status, 0) + 1
        entry.latency[bisect_left(BUCKETS_MS, call.ms)] += 1
        entry.milliseconds += call.ms
        entry.received += call.received
        entry.sent += call.sent

    def parts(self) -> list[list[UsageEntry]]:
        """The entries, in pieces that a report can carry."""
        entries = list(self._entries.values())
        return [entries[start : start + MOST_ENTRIES] for start in range(0, len(entries), MOST_ENTRIES)]


def sums(calls: Iterable[LoggedCall]) -> list[HourSum]:
    """A sum for each hour in which calls began, in their order; calls that found no version are left out.

    Raises ValueError for a time that is none.
    """
    hours: dict[str, HourSum] = {}
    routes: dict[str | None, RouteName | None] = {}
    for call in calls:
        if call.route not in routes:
            routes[call.route] = route_named(call.route)
        route = routes[call.route]
        if route is None:
            continue
        at = parse_time(call.time)
        hour = call.time[:13]  # 2026-01-31T08
        found = hours.get(hour)
        if found is None:
            found = hours[hour] = HourSum(at)
        found.add(route, at, call)
    return [hours[hour] for hour in sorted(hours)]
