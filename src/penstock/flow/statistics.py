"""Counts and times of a flow's exchanges, as IntegrationStatistics has them."""

import math
from datetime import datetime, timedelta

from penstock.protocol.status import IntegrationStatistics

_MINUTE = 60.0


class Statistics:
    """Counts of one flow. Averages are brought up to date when asked for, so that a flow at rest costs nothing.

    Loads are the exchanges in flight, averaged over 1, 5 and 15 minutes; throughput is exchanges per second,
    averaged over a minute.
    """

    __slots__ = (
        "_completed",
        "_created_at",
        "_delta",
        "_failed",
        "_finished_at",
        "_inflight",
        "_last",
        "_loads",
        "_longest",
        "_rate",
        "_reloaded",
        "_shortest",
        "_total_time",
        "_updated_at",
    )

    def __init__(self, now: datetime) -> None:
        self._updated_at = now
        self._loads = (0.0, 0.0, 0.0)
        self._rate = 0.0
        self._inflight = self._completed = self._failed = self._reloaded = 0
        self._total_time = 0.0
        self._shortest = self._longest = self._last = self._delta = 0
        self._created_at: datetime | None = None
        self._finished_at: datetime | None = None

    def created(self, now: datetime) -> None:
        """An exchange began."""
        self._bring_up_to(now)
        self._inflight += 1
        self._created_at = now

    def finished(self, now: datetime, seconds: float, failed: bool) -> None:
        """An exchange that began has ended after `seconds`."""
        self._bring_up_to(now)
        self._rate += 1 / _MINUTE
        self._inflight -= 1
        self._finished_at = now
        if failed:
            self._failed += 1
        millis = round(seconds * 1000)
        first = self._completed == 0
        self._completed += 1
        self._total_time += seconds
        self._shortest = millis if first else min(self._shortest, millis)
        self._longest = max(self._longest, millis)
        self._delta = 0 if first else millis - self._last
        self._last = millis

    def reloaded(self) -> None:
        """Another version of the flow took over."""
        self._reloaded += 1

    def snapshot(self, now: datetime) -> IntegrationStatistics:
        self._bring_up_to(now)
        done = self._completed
        return IntegrationStatistics(
            load01=f"{self._loads[0]:.2f}",
            load05=f"{self._loads[1]:.2f}",
            load15=f"{self._loads[2]:.2f}",
            exchanges_throughput=f"{self._rate:.2f}",
            exchanges_total=done,
            exchanges_failed=self._failed,
            exchanges_inflight=self._inflight,
            reloaded=self._reloaded,
            mean_processing_time=round(self._total_time * 1000 / done) if done else 0,
            max_processing_time=self._longest,
            min_processing_time=self._shortest,
            last_processing_time=self._last,
            delta_processing_time=self._delta,
            since_last_created_exchange=_since(self._created_at, now),
            since_last_completed_exchange=_since(self._finished_at, now),
        )

    def _bring_up_to(self, now: datetime) -> None:
        """Lets the averages decay over the time since the last change, in which the load was constant."""
        passed = (now - self._updated_at).total_seconds()
        if passed <= 0:
            return
        one, five, fifteen = self._loads
        self._loads = (
            _decayed(one, self._inflight, passed / _MINUTE),
            _decayed(five, self._inflight, passed / (5 * _MINUTE)),
            _decayed(fifteen, self._inflight, passed / (15 * _MINUTE)),
        )
        self._rate *= math.exp(-passed / _MINUTE)
        self._updated_at = now


def age(length: timedelta) -> str:
    """A length of time as Camel shows it: `9s`, `27m44s`, `3h12m`, `3d8h`."""
    seconds = max(0, int(length.total_seconds()))
    days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d{hours}h"
    if hours:
        return f"{hours}h{minutes}m"
    return f"{minutes}m{seconds % 60}s" if minutes else f"{seconds}s"


def _since(moment: datetime | None, now: datetime) -> str | None:
    return None if moment is None else age(now - moment)


def _decayed(average: float, value: float, lengths: float) -> float:
    return value + (average - value) * math.exp(-lengths)
