"""Endpoint uris: `scheme:path?option=value&...`."""

import re
from typing import NamedTuple, Self
from urllib.parse import unquote_plus

_URI = re.compile(r"([^:?]*)(?::(?://)?([^?]*))?(?:\?(.*))?", re.DOTALL)
_OPTION = re.compile(r"([^=&]*)(?:=(RAW\(.*?\)(?=&|$)|RAW\{.*?\}(?=&|$)|[^&]*))?(?:&|$)", re.DOTALL)


class EndpointUri(NamedTuple):
    """scheme: the component's name. path: what follows the colon. query: options in order, decoded."""

    scheme: str
    path: str
    query: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads any text. In options `%41` and `+` are decoded; `RAW(...)` is taken as it stands."""
        match = _URI.fullmatch(text.strip())
        assert match is not None  # the pattern matches every text
        scheme, path, query = match.groups()
        options = [
            (unquote_plus(name), _value(value or "")) for name, value in _OPTION.findall(query or "") if name or value
        ]
        return cls(scheme, path or "", tuple(options))


def _value(text: str) -> str:
    return text[4:-1] if text.startswith(("RAW(", "RAW{")) else unquote_plus(text)
