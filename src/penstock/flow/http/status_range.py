"""Ranges of HTTP statuses."""

import re
from typing import Self

_PART = re.compile(r"(\d{3})(?:-(\d{3}))?", re.ASCII)


class StatusRange(tuple[range, ...]):
    """Statuses as `200-299,304`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for anything but statuses and ranges with commas between."""
        parts = [_PART.fullmatch(part.strip()) for part in text.split(",")]
        if any(part is None for part in parts):
            raise ValueError("must be statuses like 200-299 or 200-299,404")
        return cls(range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part is not None)

    def has(self, status: int) -> bool:
        return any(status in part for part in self)

    def __str__(self) -> str:
        return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in self)
