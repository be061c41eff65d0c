"""How much a flow may log: so many lines and bytes a second, with room for a burst. The rest is dropped and counted."""

from collections.abc import Callable
from typing import NamedTuple


class Allowance(NamedTuple):
    """per_second: what flows back. most: what may be taken at once."""

    per_second: float
    most: float


LINES = Allowance(100, 2_000)
BYTES = Allowance(128 * 1024, 2 * 1024 * 1024)


class Dropped(NamedTuple):
    """What a flow logged beyond its allowance."""

    flow: str
    lines: int
    bytes: int


class LogLimit:
    """now: seconds that only go forward."""

    def __init__(self, now: Callable[[], float], lines: Allowance = LINES, bytes: Allowance = BYTES) -> None:
        self._now = now
        self._allowances = (lines, bytes)
        self._meters: dict[str, _Meter] = {}

    def takes(self, flow: str, size: int) -> bool:
        """Whether the flow may log a line of so many bytes now; when not, it is counted as dropped."""
        now = self._now()
        meter = self._meters.get(flow)
        if meter is None:
            meter = self._meters[flow] = _Meter(now)
        return meter.takes(now, size, *self._allowances)

    def dropped(self) -> list[Dropped]:
        """What was dropped since this was last asked."""
        now = self._now()
        told = [Dropped(flow, each.lines, each.bytes) for flow, each in self._meters.items() if each.lines]
        rested = [flow for flow, each in self._meters.items() if each.has_rested(now, *self._allowances)]
        for flow in rested:
            del self._meters[flow]
        for meter in self._meters.values():
            meter.lines = meter.bytes = 0
        return told


class _Meter:
    """What one flow has used of its allowances, and what it lost."""

    __slots__ = ("_at", "_used_bytes", "_used_lines", "bytes", "lines")

    def __init__(self, now: float) -> None:
        self._at = now
        self._used_lines = self._used_bytes = 0.0
        self.lines = self.bytes = 0

    def takes(self, now: float, size: int, lines: Allowance, bytes: Allowance) -> bool:
        self._flow_back(now, lines, bytes)
        # A line that alone is more than the burst still gets through when nothing was used.
        if self._used_lines + 1 > lines.most or (self._used_bytes and self._used_bytes + size > bytes.most):
            self.lines += 1
            self.bytes += size
            return False
        self._used_lines += 1
        self._used_bytes += size
        return True

    def has_rested(self, now: float, lines: Allowance, bytes: Allowance) -> bool:
        """Whether forgetting it makes no difference."""
        self._flow_back(now, lines, bytes)
        return not self._used_lines and not self._used_bytes

    def _flow_back(self, now: float, lines: Allowance, bytes: Allowance) -> None:
        passed, self._at = now - self._at, now
        self._used_lines = max(0.0, self._used_lines - passed * lines.per_second)
        self._used_bytes = max(0.0, self._used_bytes - passed * bytes.per_second)
