"""Counters of event sources."""

from prometheus_client import Counter

PUBLISHED = Counter("penstock_source_events_total", "Events of event sources and triggers that were published.")
REPEATED = Counter(
    "penstock_source_events_repeated_total", "Events that had been published before and were passed over."
)
