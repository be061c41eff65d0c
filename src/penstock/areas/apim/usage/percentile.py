"""Percentiles estimated from a histogram."""

from collections.abc import Sequence

from penstock.protocol.gateway import BUCKETS_MS


def percentile(latency: Sequence[int], share: float) -> float:
    """Milliseconds within which `share` of the calls were answered; evenly spread within a bucket.

    What took longer than the last bound counts as that bound. 0 without calls.
    """
    wanted = share * sum(latency)
    if not wanted:
        return 0.0
    reached, lower = 0, 0
    for upper, number in zip(BUCKETS_MS, latency, strict=False):
        if reached + number >= wanted:
            return round(lower + (upper - lower) * (wanted - reached) / number, 3)
        reached, lower = reached + number, upper
    return float(BUCKETS_MS[-1])
