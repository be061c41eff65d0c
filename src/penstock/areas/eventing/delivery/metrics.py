"""Counters of deliveries."""

from enum import StrEnum

from prometheus_client import Counter

_DELIVERIES = Counter(
    "penstock_deliveries_total",
    "Tries to deliver an event, by kind of endpoint and what became of them.",
    ("endpoint", "outcome"),
)


class Outcome(StrEnum):
    """What became of one try. DROPPED: a component let the event go no further."""

    DELIVERED = "delivered"
    FAILED = "failed"
    GIVEN_UP = "given up"
    DROPPED = "dropped"


def count(outcome: Outcome, endpoint: str) -> None:
    _DELIVERIES.labels(endpoint, outcome.value).inc()
