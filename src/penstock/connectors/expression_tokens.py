"""The words of filter expressions."""

import re
from enum import Enum, auto
from typing import Any, NamedTuple


class Kind(Enum):
    """What a token is. A WORD is an operator or keyword, in capitals or as the sign is."""

    NAME = auto()
    LITERAL = auto()
    WORD = auto()
    END = auto()


class Token(NamedTuple):
    """value: the name, the literal's value, or the word. at: its place in the text, from 1."""

    kind: Kind
    value: Any
    at: int


_KEYWORDS = frozenset({"AND", "OR", "XOR", "NOT", "IN", "LIKE", "EXISTS"})
_LITERALS = {"TRUE": True, "FALSE": False}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?(?![A-Za-z0-9]))
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)
      | (?P<sign><=|>=|<>|!=|[=<>(),+*/%-])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def tokens_of(text: str) -> list[Token]:
    """The tokens, with an END behind them. Raises ValueError naming the place of what is no token."""
    found: list[Token] = []
    end = 0
    length = len(text.rstrip())
    while end < length:
        match = _TOKEN.match(text, end)
        if match is None:
            place = end + len(text[end:]) - len(text[end:].lstrip())
            raise ValueError(f"cannot read '{text[place : place + 10]}' at {place + 1}")
        found.append(_token(match))
        end = match.end()
    return [*found, Token(Kind.END, "the end", length + 1)]


def _token(match: re.Match[str]) -> Token:
    text = match[match.lastgroup or 0]
    at = match.end() - len(text) + 1
    upper = text.upper()
    match match.lastgroup:
        case "number":
            return Token(Kind.LITERAL, float(text) if "." in text else int(text), at)
        case "text":
            return Token(Kind.LITERAL, _ESCAPE.sub(r"\1", text[1:-1]), at)
        case "name" if upper in _LITERALS:
            return Token(Kind.LITERAL, _LITERALS[upper], at)
        case "name" if upper not in _KEYWORDS:
            return Token(Kind.NAME, text, at)
        case _:
            return Token(Kind.WORD, upper, at)
