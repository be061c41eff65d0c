"""Patterns that names are chosen by: a name, its beginning with `*`, or a regular expression."""

import re
from typing import Self


class NamePattern:
    """Matches whole names without regard to case, as Camel's patterns do."""

    __slots__ = ("_pattern", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        begins = source.removesuffix("*") if source.endswith("*") else None
        plain = f"{re.escape(begins)}.*" if begins is not None else re.escape(source)
        try:
            self._pattern = re.compile(f"{plain}|(?:{source})", re.IGNORECASE | re.DOTALL)
        except re.error:  # a name that is no regular expression
            self._pattern = re.compile(plain, re.IGNORECASE | re.DOTALL)

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(text)

    def matches(self, name: str) -> bool:
        return self._pattern.fullmatch(name) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamePattern) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)
