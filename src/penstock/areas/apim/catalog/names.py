"""Names in the one document of all versions, where each may stand once."""

import re
from collections.abc import Mapping

from penstock.areas.apim.catalog.parts import Object

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


class TakenNames:
    """Of all versions. Names are of letters, digits and `_`, which every generator of clients can use."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()

    def take(self, kind: str, *words: str) -> str:
        """A name of this kind that nothing else has."""
        plain = "_".join(_OTHER.sub("_", word).strip("_") or "_" for word in words)
        name, number = plain, 1
        while (kind, name) in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add((kind, name))
        return name


def component_names(
    components: Mapping[str, Mapping[str, Object]], taken: TakenNames, *owner: str
) -> Mapping[tuple[str, str], str]:
    """New names by section and name. owner: words that they begin with; none leaves them as they are."""
    return {
        (section, name): taken.take(section, *owner, name) if owner else name
        for section, named in components.items()
        for name in named
    }
