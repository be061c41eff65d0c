"""Counters of events. A server counts what it did; what it does again after a fault counts again."""

from prometheus_client import Counter, Histogram

ACCEPTED = Counter("penstock_events_accepted_total", "Events stored durably, those that were there already left out.")
DUPLICATES = Counter("penstock_events_duplicate_total", "Events that were stored already.")
ROUTED = Counter("penstock_events_routed_total", "Copies of events stored in the streams of channels.")
ROUTING_SECONDS = Histogram(
    "penstock_event_routing_seconds",
    "Time from the acceptance of an event until the streams of its channels have it.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300),
)
