"""Options that a component does not declare, and hands on as they are."""

from collections.abc import Iterable
from typing import Self

from penstock.flow.text import Text


class ExtraOptions(tuple[tuple[str, Text], ...]):
    """Names and values in the order in which they were written."""

    __slots__ = ()

    takes_variables = True

    @classmethod
    def of(cls, written: Iterable[tuple[str, str]]) -> Self:
        """Raises ValueError, as Text does."""
        return cls((name, Text.parse(value)) for name, value in written)

    @classmethod
    def parse(cls, text: str) -> Self:
        """An option of this kind has no text of its own: raises ValueError."""
        raise ValueError("is not an option: write the options themselves")
