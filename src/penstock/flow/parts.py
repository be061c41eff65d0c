"""The parts of a value, as Camel finds them."""

from collections.abc import Iterator, Mapping


def parts_of(value: object, delimiter: str = ",") -> Iterator[object]:
    """The entries of a list, or of a text between delimiters; anything else is one part, None is none."""
    if value is None:
        return iter(())
    if isinstance(value, Iterator):
        return value
    if isinstance(value, list | tuple):
        return iter(value)
    if isinstance(value, Mapping):
        return iter([{key: inner} for key, inner in value.items()])
    if isinstance(value, str):
        return _between(value, delimiter)
    return iter((value,))


def _between(text: str, delimiter: str) -> Iterator[object]:
    if not text:
        return iter(())
    if delimiter in ("", "false", "single") or delimiter not in text:
        return iter((text,))
    return iter(tokens(text, delimiter))


def tokens(text: str, delimiter: str) -> list[str]:
    """What stands between delimiters; nothing after a delimiter at the end is not a part."""
    found = text.split(delimiter)
    return found[:-1] if found[-1] == "" else found
