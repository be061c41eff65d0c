"""How often and how long delivery is tried."""

import random
from datetime import timedelta

import msgspec

_JITTER = 0.2


class DeliveryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """retry_seconds: pause before each further try, before jitter; one try more than there are pauses.

    dead_letter_age: how long dead letters are kept. ack_seconds: how long the event in the hands of a server that
    died waits for another, when it holds up all those behind it; others wait three times as long. in_hand: for each
    event that a channel with parallel delivery tries at once, so many are in hand, most of them waiting for a next try.
    """

    retry_seconds: tuple[float, ...] = (1.0, 10.0, 60.0, 600.0)
    dead_letter_age: timedelta = timedelta(days=30)
    ack_seconds: float = 10.0
    in_hand: int = 16

    @property
    def tries(self) -> int:
        return len(self.retry_seconds) + 1

    def pause_after(self, tries: int) -> float | None:
        """Seconds until the next try, spread so that many do not come at once; None when there is none."""
        if tries > len(self.retry_seconds):
            return None
        return self.retry_seconds[tries - 1] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not a secret

    @property
    def breaker_pauses(self) -> tuple[float, float]:
        """The first and the longest pause of an endpoint's circuit breaker, in seconds."""
        first = self.retry_seconds[0] if self.retry_seconds else 1.0
        return first, max(first, min(60.0, max(self.retry_seconds, default=60.0)))
