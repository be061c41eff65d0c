"""Headers of a message: names are kept as written and found without case, as Camel does."""

from collections.abc import Iterator, MutableMapping


class Headers(MutableMapping[str, object]):
    """A mapping whose names do not depend on case; the first spelling of a name stays."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, tuple[str, object]] = {}

    def copy(self) -> "Headers":
        other = Headers()
        other._entries = dict(self._entries)
        return other

    def __getitem__(self, name: str) -> object:
        return self._entries[name.casefold()][1]

    def __setitem__(self, name: str, value: object) -> None:
        key = name.casefold()
        known = self._entries.get(key)
        self._entries[key] = (known[0] if known else name, value)

    def __delitem__(self, name: str) -> None:
        del self._entries[name.casefold()]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
