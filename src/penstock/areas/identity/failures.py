"""Counts of failures by key, and the waits that follow from them."""

from collections import OrderedDict
from datetime import datetime, timedelta

MOST = 20_000


class Failures:
    """Remembers at most MOST keys; those whose last failure is longest ago go first.

    free: failures without consequence. After that the wait is a second and doubles with each one, up to `longest`.
    """

    def __init__(self, free: int, longest: timedelta) -> None:
        self._free = free
        self._longest = longest
        self._entries: OrderedDict[bytes, tuple[int, datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def wait(self, key: bytes, now: datetime) -> timedelta:
        """How long the next try has to wait; zero or less when it need not."""
        count, last = self._entry(key, now)
        if count < self._free:
            return timedelta()
        doublings = min(count - self._free, 30)
        return last + min(timedelta(seconds=1 << doublings), self._longest) - now

    def add(self, key: bytes, now: datetime) -> None:
        count, _ = self._entry(key, now)
        self._entries[key] = (count + 1, now)
        self._entries.move_to_end(key)
        if len(self._entries) > MOST:
            self._entries.popitem(last=False)

    def take_back(self, key: bytes) -> None:
        """Forgets one failure."""
        count, last = self._entries.get(key, (0, None))
        if last is not None and count > 1:
            self._entries[key] = (count - 1, last)
        else:
            self.forget(key)

    def forget(self, key: bytes) -> None:
        """Forgets every failure of the key."""
        self._entries.pop(key, None)

    def _entry(self, key: bytes, now: datetime) -> tuple[int, datetime]:
        count, last = self._entries.get(key, (0, now))
        # The longest wait must have passed as well, or the block would end by being forgotten.
        return (0, now) if now - last > self._longest else (count, last)
