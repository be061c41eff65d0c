"""The type that an expression's value is converted to."""

from typing import Self

from penstock.flow.conversion import TYPES
from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName


class ResultType(str):
    """Java's name of a type."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises UnknownName for a type that this engine does not know."""
        if text not in TYPES:
            raise UnknownName(
                Unknown(Family.OPTION, f"resultType {text}"), Unknown(Family.OPTION, text).sentence(TYPES)
            )
        return cls(text)
