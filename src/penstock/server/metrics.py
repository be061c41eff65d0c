"""Counters of the HTTP surface, in the Prometheus exposition format with those of the areas."""

from functools import cache

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Histogram, generate_latest

REQUESTS = Histogram(
    "penstock_http_request_seconds",
    "Time to answer, by operation and status.",
    ("method", "path", "status"),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)


@cache
def request_seconds(method: str, path: str, status: int) -> Histogram:
    """The histogram of one operation and status. path: the route's template, never what a caller wrote."""
    return REQUESTS.labels(method, path, str(status))


def exposition() -> tuple[bytes, str]:
    """All metrics of the process, and their media type."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
