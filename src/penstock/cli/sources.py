"""Texts of configuration documents from files, folders and standard input, sent as one text.

The server tells lines of that one text; here they become lines of the files again.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from penstock.kernel.errors import FieldError

STDIN = "-"
_ENDINGS = (".yaml", ".yml", ".json")
_SEPARATOR = "\n---\n"
_LINE = re.compile(r"line (\d+): ")
_DOCUMENT = re.compile(r"documents\[\d+\]\.?")


@dataclass(frozen=True)
class Source:
    """A text and what to call it. first_line: where it begins in the text of all."""

    name: str
    text: str
    first_line: int


class Sources:
    """All that `-f` names, in the order given; a folder's files in the order of their names."""

    def __init__(self, names: Iterable[str]) -> None:
        """Raises click.ClickException for what cannot be read."""
        self._sources: list[Source] = []
        for name in names:
            for path in _files(name):
                self._add(str(path), _read(path))

    @property
    def text(self) -> str:
        return _SEPARATOR.join(source.text for source in self._sources)

    def place(self, error: FieldError) -> str:
        """The error as `file:line: field: message`."""
        field = _DOCUMENT.sub("", error.field, count=1)
        located = _LINE.match(error.message)
        message = error.message[located.end() :] if located else error.message
        told = f"{field}: {message}" if field else message
        if located is None:
            return told
        line = int(located[1])
        source = self._at(line)
        return f"{source.name}:{line - source.first_line + 1}: {told}"

    def _add(self, name: str, text: str) -> None:
        before = self._sources[-1] if self._sources else None
        lines = _SEPARATOR.count("\n")
        first = before.first_line + before.text.count("\n") + lines if before else 1
        self._sources.append(Source("standard input" if name == STDIN else name, text, first))

    def _at(self, line: int) -> Source:
        return next(source for source in reversed(self._sources) if source.first_line <= line)


def _files(name: str) -> Sequence[Path]:
    path = Path(name)
    if name == STDIN or not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS)
    if not found:
        raise click.ClickException(f"the folder {name} has no files that end with {', '.join(_ENDINGS)}")
    return found


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == STDIN else path.read_text()
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} is not UTF-8 text") from None
