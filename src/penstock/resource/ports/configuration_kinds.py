"""Every kind of configuration there is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.resource.kind import ConfigurationKind


class ConfigurationKinds(Mapping[str, ConfigurationKind[Any]]):
    """Provided by the server: every kind that the areas declare, by its name."""

    def __init__(self, kinds: Iterable[ConfigurationKind[Any]]) -> None:
        """Raises TypeError when two kinds have one name."""
        self._kinds: dict[str, ConfigurationKind[Any]] = {}
        for kind in kinds:
            if kind.kind in self._kinds:
                raise TypeError(f"the configuration kind {kind.kind} is declared twice")
            self._kinds[kind.kind] = kind

    def __getitem__(self, name: str) -> ConfigurationKind[Any]:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)
