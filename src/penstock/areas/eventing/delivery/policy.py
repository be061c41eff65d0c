"""How often and how long delivery is tried."""

from datetime import timedelta

import msgspec


class DeliveryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """retry_seconds: pause before each further try, before jitter; one try more than there are pauses.

    dead_letter_age: how long dead letters are kept. ack_seconds: how long the event in the hands of a server that
    died waits for another.
    """

    retry_seconds: tuple[float, ...] = (1.0, 10.0, 60.0, 600.0)
    dead_letter_age: timedelta = timedelta(days=30)
    ack_seconds: float = 10.0

    @property
    def tries(self) -> int:
        return len(self.retry_seconds) + 1
