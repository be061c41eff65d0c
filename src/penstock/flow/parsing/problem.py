"""What is wrong with a flow, and where."""

from collections.abc import Iterable
from difflib import get_close_matches

import msgspec

from penstock.flow.family import Family
from penstock.kernel.errors import FieldError, Invalid


class Unknown(msgspec.Struct, frozen=True):
    """A name that this engine does not know; Apache Camel may.

    family: of what it would be. name: as written. of: the element that it belongs to, for options: `timer`.
    """

    family: Family
    name: str
    of: str = ""

    def sentence(self, known: Iterable[str]) -> str:
        """What is wrong, with the nearest name and those that there are."""
        names = sorted(known)
        nearest = get_close_matches(self.name, names, n=1)
        guess = f", did you mean '{nearest[0]}'?" if nearest else ""
        allowed = f" (known: {', '.join(names)})" if names else " (there are none)"
        return f"'{self.name}' is not known{guess}{allowed}"


class UnknownName(ValueError):
    """A value is refused because a name in it is not known here."""

    def __init__(self, unknown: Unknown, message: str) -> None:
        super().__init__(message)
        self.unknown = unknown


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong in a flow's document.

    line, column: position in the document, from 1.
    element: what it is about, like `setBody` or `timer: period`.
    message: what is wrong and what is allowed there.
    unknown: the name that is not known here, when that is what is wrong.
    """

    line: int
    column: int
    element: str
    message: str
    unknown: Unknown | None = None

    def __str__(self) -> str:
        return f"{self.element}: {self.message}"


Problems = list[Problem]


class InvalidFlow(Invalid):
    """The flow's document is refused; `problems` lists every reason in the order of the lines."""

    code = "invalid-flow"
    title = "The flow is not valid"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))
        super().__init__(FieldError(f"line {p.line}, column {p.column}", str(p)) for p in self.problems)
