"""Finding functions in a text, and things outside quotes and functions."""

from collections.abc import Iterator

from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName

_OPENINGS = ("$simple{", "$init{")


def pieces(source: str) -> Iterator[tuple[bool, str]]:
    """The plain texts and, marked True, what stands between `${` and its `}`, in order. Raises ValueError."""
    for opening in _OPENINGS:
        if opening in source:
            unknown = Unknown(Family.FUNCTION, opening)
            raise UnknownName(unknown, f"'{opening}...}}' is not known: functions are written ${{...}}")
    position = 0
    while (start := source.find("${", position)) >= 0:
        end = closing(source, start)
        if start > position:
            yield False, source[position:start]
        yield True, source[start + 2 : end]
        position = end + 1
    if position < len(source):
        yield False, source[position:]


def closing(source: str, start: int) -> int:
    """Where the function that begins at `start` ends: the place of its brace. Raises ValueError."""
    depth, at = 0, start
    while at < len(source):
        if source.startswith("${", at):
            depth += 1
            at += 2
            continue
        if source[at] == "}":
            depth -= 1
            if not depth:
                return at
        at += 1
    raise ValueError(f"function '{source[start : start + 20]}' has no closing brace")


def outside(source: str, wanted: str) -> int:
    """The first place of `wanted` that is neither in quotes nor in a function; -1 when there is none."""
    at = 0
    while at < len(source):
        if source.startswith(wanted, at):
            return at
        if source.startswith("${", at):
            at = closing(source, at) + 1
        elif source[at] in "'\"":
            end = source.find(source[at], at + 1)
            at = len(source) if end < 0 else end + 1
        else:
            at += 1
    return -1
