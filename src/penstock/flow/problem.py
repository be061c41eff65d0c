"""What is wrong with a flow, and where."""

from collections.abc import Iterable
from difflib import get_close_matches

import msgspec

from penstock.kernel.errors import FieldError, Invalid


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong in a flow's document.

    line, column: position in the document, from 1.
    element: what it is about, like `setBody` or `timer: period`.
    message: what is wrong and what is allowed there.
    """

    line: int
    column: int
    element: str
    message: str

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


def unknown(name: str, known: Iterable[str]) -> str:
    """The sentence about a name that is not among `known`."""
    names = sorted(known)
    nearest = get_close_matches(name, names, n=1)
    guess = f", did you mean '{nearest[0]}'?" if nearest else ""
    allowed = f" (known: {', '.join(names)})" if names else " (there are none)"
    return f"'{name}' is not known{guess}{allowed}"
