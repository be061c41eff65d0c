"""What a search asks types and ids for."""

from penstock.protocol.entity_key import key_token

ANY = "*"


class Pattern:
    """A text, or one with `*` for any characters. Matching takes one pass, whatever the pattern."""

    def __init__(self, text: str) -> None:
        self._first, *rest = text.split(ANY)
        self._exact = not rest
        self._middle, self._last = rest[:-1], rest[-1] if rest else ""

    @property
    def token(self) -> str:
        """The part of a subject of the bus that everything that matches has."""
        return key_token(self._first) if self._exact else ANY

    def matches(self, text: str) -> bool:
        if self._exact:
            return text == self._first
        if not text.startswith(self._first) or not text.endswith(self._last):
            return False
        place = len(self._first)
        for part in self._middle:
            found = text.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        return place + len(self._last) <= len(text)
