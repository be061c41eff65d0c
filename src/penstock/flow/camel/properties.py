"""Java's properties files, for what must not be on a command line."""

from collections.abc import Mapping

_SHORT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_IN_KEYS = {" ": "\\ ", ":": "\\:", "=": "\\=", "#": "\\#", "!": "\\!"}


def properties(values: Mapping[str, str]) -> str:
    """The text of a file in ASCII that Java reads as these values."""
    return "".join(f"{_escaped(name, _IN_KEYS)}={_value(value)}\n" for name, value in values.items())


def _value(text: str) -> str:
    escaped = _escaped(text, {})
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escaped(text: str, more: Mapping[str, str]) -> str:
    return "".join(_SHORT.get(char) or more.get(char) or _plain(char) for char in text)


def _plain(char: str) -> str:
    if " " <= char <= "~":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
