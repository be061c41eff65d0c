"""What a document would change, as a coloured difference of YAML."""

import difflib
from collections.abc import Iterator
from typing import Any

import click

from penstock.cli.text import as_yaml

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def difference(name: str, before: Any, after: Any) -> Iterator[str]:
    """The lines of a unified difference; none when both are the same."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"{name} (now)", f"{name} (then)", lineterm="", n=3)
    for number, line in enumerate(lines):
        # The first two name the sides, and begin like changes.
        yield click.style(line, bold=True) if number < len("-+") else click.style(line, fg=_COLOURS.get(line[:1]))


def _lines(value: Any) -> list[str]:
    return [] if value is None else as_yaml(value).splitlines()
