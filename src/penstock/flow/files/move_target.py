"""Where a file goes, as Camel's options `move` and `moveFailed` say it."""

from functools import cached_property
from typing import Self

from penstock.flow.simple import DynamicText


class MoveTarget:
    """A folder, beside the file when it is relative; or a whole name when there are functions in it."""

    takes_variables = True

    def __init__(self, source: str) -> None:
        self._source = source

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for a function that is not known."""
        target = cls(text)
        _ = target.name
        return target

    @cached_property
    def name(self) -> DynamicText:
        """The whole name, with functions."""
        return DynamicText.parse(self._source if "${" in self._source else _whole(self._source))

    def __str__(self) -> str:
        return self._source


def _whole(folder: str) -> str:
    start = "" if folder.startswith("/") else "${file:parent}/"
    return f"{start}{folder.rstrip('/')}/${{file:onlyname}}"
