"""Calls of published APIs for Prometheus. A server counts what it took in."""

from collections.abc import Iterable

from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from penstock.protocol.gateway import BUCKETS_MS, UsageEntry

MOST = 500
"""Subscriptions to versions that are told apart; what is more is counted together, as `other`."""
_OTHER = ("other", "other", "other")
_LABELS = ("api", "version", "subscription")


class CallMetrics(Collector):
    """Sums that grow by whole reports, which the library's own counters of latency cannot."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, str], UsageEntry] = {}

    def count(self, entry: UsageEntry) -> None:
        labels = (entry.api, entry.version, entry.subscription or "")
        if labels not in self._entries and len(self._entries) >= MOST:
            labels = _OTHER
        if labels not in self._entries:
            api, version, subscription = labels
            self._entries[labels] = UsageEntry(api=api, version=version, subscription=subscription, statuses={})
        self._entries[labels].add(entry)

    def describe(self) -> Iterable[Metric]:
        return (_calls(), _latency())

    def collect(self) -> Iterable[Metric]:
        calls, latency = _calls(), _latency()
        for labels, entry in self._entries.items():
            for status, number in sorted(entry.statuses.items()):
                calls.add_metric([*labels, str(status)], number)
            latency.add_metric(labels, _buckets(entry.latency), entry.milliseconds / 1000)
        return (calls, latency)


def _calls() -> CounterMetricFamily:
    return CounterMetricFamily(
        "penstock_api_calls",
        "Calls of published APIs, by the status they were answered with.",
        labels=[*_LABELS, "status"],
    )


def _latency() -> HistogramMetricFamily:
    return HistogramMetricFamily(
        "penstock_api_call_seconds", "Time until a gateway had answered a call.", labels=[*_LABELS]
    )


def _buckets(latency: list[int]) -> list[tuple[str, float]]:
    """As Prometheus has them: each holds what is in those before it."""
    bounds = [*(str(bound / 1000) for bound in BUCKETS_MS), "+Inf"]
    total = 0
    found: list[tuple[str, float]] = []
    for bound, number in zip(bounds, latency, strict=True):
        total += number
        found.append((bound, total))
    return found


CALLS = CallMetrics()
REGISTRY.register(CALLS)
