"""SQL as a value, and procedures over it that do no I/O themselves.

A procedure yields the statements it wants run and is sent their results, so the same one serves a
thread on SQLite and a task on PostgreSQL.
"""

from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")
Found = list[tuple[Any, ...]]
"""The rows of a query."""


class Statement(NamedTuple):
    """SQL and its parameters, in the dialect of one database."""

    sql: str
    params: Sequence[Any] = ()


class Result(NamedTuple):
    """rows: what a query gave. changed: how many rows a change touched."""

    rows: Found
    changed: int


class Conflict(Exception):
    """A unique index refused one of the statements; thrown into a procedure, never seen by a caller."""


Steps = Generator[Statement, Result, R]
"""A procedure inside one transaction: yields statements, is sent the Result of each, returns R.

A Conflict is thrown into it when a unique index refuses: it may only turn that into another error.
Whatever it raises rolls the transaction back.
"""


def each_of(statements: Iterable[Statement]) -> Steps[None]:
    """Runs statements whose results do not matter."""
    for statement in statements:  # noqa: UP028 - a plain iterable takes no result sent into it
        yield statement
