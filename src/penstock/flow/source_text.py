"""The source of an expression, which its language reads; variables in it are the language's to read too."""

from typing import Self


class SourceText(str):
    """A text that is kept as it was written."""

    __slots__ = ()

    takes_variables = True

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(text)
