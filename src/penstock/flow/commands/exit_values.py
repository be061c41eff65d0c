"""The exit values that count as success."""

import re
from typing import Self

_VALUES = re.compile(r"\s*-?\d{1,3}\s*(,\s*-?\d{1,3}\s*)*", re.ASCII)


class ExitValues(frozenset[int]):
    """A set of exit values, written with commas between; empty when every value is success."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for anything but whole numbers with commas between."""
        if not text.strip():
            return cls()
        if not _VALUES.fullmatch(text):
            raise ValueError("must be exit values like 0,3")
        return cls(int(value) for value in text.split(","))
