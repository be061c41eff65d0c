"""Where values stand in a text of JSON, so that one can be changed and the rest left as it is written."""

import re
from collections.abc import Sequence
from json import JSONDecoder
from typing import Final

EACH: Final = object()
"""In a path: every element of an array, or every value of an object."""

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = JSONDecoder().raw_decode
Span = tuple[int, int]
Path = Sequence[object]


def spans(text: str, path: Path) -> list[Span]:
    """Begin and end of the values at the path, a sequence of keys and EACH, in their order. text: valid JSON."""
    found: list[Span] = []
    _walk(text, _skip(text, 0), path, found)
    return found


def _walk(text: str, position: int, path: Path, found: list[Span]) -> int:
    """The end of the value that begins at the position."""
    if not path or text[position] not in "[{":
        end = _decode(text, position)[1]
        if not path:
            found.append((position, end))
        return end
    is_object = text[position] == "{"
    position = _skip(text, position + 1)
    while text[position] not in "]}":
        key: object = EACH
        if is_object:
            key, position = _decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        wanted = path[0] is EACH or path[0] == key
        position = _walk(text, position, path[1:], found) if wanted else _decode(text, position)[1]
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return position + 1


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()
