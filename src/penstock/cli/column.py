"""Columns of tables, and how fields become their texts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.cli.text import visible

Row = Mapping[str, Any]

_WIDEST = 60


@dataclass(frozen=True)
class Column:
    """A column of the table. of: the row's field, or what makes the text from the row."""

    title: str
    of: str | Callable[[Row], Any]

    def text(self, row: Row) -> str:
        value = row.get(self.of) if isinstance(self.of, str) else self.of(row)
        return visible(_text(value))


def worded(title: str, field: str, words: tuple[str, ...]) -> Column:
    """A column of a field that is the number of a word."""
    return Column(title, lambda row: words[row[field]] if 0 <= row[field] < len(words) else row[field])


def first_line(title: str, field: str) -> Column:
    """A column of a field's first line, cut; others may have written it, so nothing in it may steer the terminal."""
    return Column(title, lambda row: _first_line(row[field] or ""))


def _first_line(text: str) -> str:
    first = text.strip().partition("\n")[0].strip()
    shown = "".join(character if character.isprintable() else "\ufffd" for character in first[:_WIDEST])
    return shown if len(first) <= _WIDEST else f"{shown}..."


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


REQUESTED = worded("REQUESTED", "RequestedStatus", ("stopped", "started", "unknown"))
