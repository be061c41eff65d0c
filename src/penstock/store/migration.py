"""Numbered changes of stored bodies, for what new columns and lenient reading cannot do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Migration:
    """Rewrites every body of one collection or journal, once per database, in the order of the numbers.

    A database made anew records the migrations it was born with and runs none of them.

    table: the collection's or journal's name.
    apply: takes a body as JSON objects; returns what it becomes, or None to leave it.
    """

    number: int
    name: str
    table: str
    apply: Callable[[dict[str, Any]], dict[str, Any] | None]
