"""Sparing an endpoint that is down: after several failures in a row only one try at a time goes through."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.connectors.failure import DeliveryFailed, EventRefused


class CircuitBreaker:
    """Closed while all is well; open after `failures` in a row. While it is open, one try is let through after each
    pause: success closes it, failure doubles the pause.

    A try fails by DeliveryFailed; EventRefused shows that the other side is there.
    first_pause, longest_pause: seconds. now: seconds on a clock that never goes back.
    """

    def __init__(
        self, now: Callable[[], float], *, failures: int = 5, first_pause: float = 1.0, longest_pause: float = 60.0
    ) -> None:
        self._now = now
        self._most = failures
        self._first_pause = first_pause
        self._longest_pause = longest_pause
        self._failures = 0
        self._pause = first_pause
        self._paused_until = 0.0
        self._probing = False

    @property
    def is_open(self) -> bool:
        return self._failures >= self._most

    def ready_in(self) -> float:
        """Seconds until a try may begin; 0 when it may now. While another one probes, its outcome is waited for."""
        if not self.is_open:
            return 0.0
        if self._probing:
            return self._first_pause
        return max(self._paused_until - self._now(), 0.0)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One try, begun when `ready_in` is 0; how it ends is noted."""
        probes = self.is_open
        self._probing |= probes
        try:
            yield
        except EventRefused:
            self._close()
            raise
        except DeliveryFailed:
            self._fail()
            raise
        else:
            self._close()
        finally:
            if probes:
                self._probing = False

    def _close(self) -> None:
        self._failures = 0
        self._pause = self._first_pause

    def _fail(self) -> None:
        self._failures += 1
        if self.is_open:
            self._paused_until = self._now() + self._pause
            self._pause = min(self._pause * 2, self._longest_pause)
