"""Names in one document of many versions, where each may stand once."""

import re
from collections.abc import Mapping, Sequence

from penstock.areas.apim.catalog.parts import Object

_OTHER = re.compile(r"[^A-Za-z0-9_]+")
_OPERATION = "operation"


class TakenNames:
    """Of all versions. as_written: names stay as they are, where they can.

    Otherwise they are of letters, digits and `_`, which every generator of clients can use.
    """

    def __init__(self, *, as_written: bool = False) -> None:
        self._as_written = as_written
        self._taken: set[tuple[str, str]] = set()

    def take(self, kind: str, owner: Sequence[str], name: str) -> str:
        """A name of this kind that nothing else has. owner: words that it begins with."""
        if self._as_written:
            wanted = name
        else:
            wanted = "_".join(_OTHER.sub("_", word).strip("_") or "_" for word in (*owner, name))
        free, number = wanted, 1
        while (kind, free) in self._taken:
            number += 1
            free = f"{wanted}_{number}"
        self._taken.add((kind, free))
        return free


class OperationNames:
    """New names of operations, as they come in the document: some documents call two of them the same."""

    def __init__(self, ids: Sequence[str], taken: TakenNames, owner: Sequence[str]) -> None:
        self._names: dict[str, list[str]] = {}
        self._used: dict[str, int] = {}
        for id in ids:
            self._names.setdefault(id, []).append(taken.take(_OPERATION, owner, id))

    def next(self, id: str) -> str:
        """Of the next operation that is called so."""
        names, used = self._names[id], self._used.get(id, 0)
        self._used[id] = used + 1
        return names[min(used, len(names) - 1)]

    def first(self, id: str) -> str:
        """Of the operation that a link means."""
        return self._names.get(id, [id])[0]


def component_names(
    components: Mapping[str, Mapping[str, Object]], taken: TakenNames, owner: Sequence[str]
) -> Mapping[tuple[str, str], str]:
    """New names by section and name."""
    return {
        (section, name): taken.take(section, owner, name) for section, named in components.items() for name in named
    }
