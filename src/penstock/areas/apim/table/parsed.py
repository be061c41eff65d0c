"""What is made of each entity of a view, kept as long as the entity stays."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar
from uuid import UUID

E = TypeVar("E")
P = TypeVar("P")


class Parsed(Generic[E, P]):
    """Views are those of a Mirror: an entity that did not change is the same object."""

    def __init__(self, parse: Callable[[E], P]) -> None:
        self._parse = parse
        self._view: Mapping[UUID, E] = {}
        self._found: dict[UUID, P] = {}

    def of(self, view: Mapping[UUID, E]) -> Mapping[UUID, P]:
        """By id. The same object while the view is the same."""
        if view is not self._view:
            before, found = self._view, self._found
            self._found = {
                id: found[id] if before.get(id) is entity else self._parse(entity) for id, entity in view.items()
            }
            self._view = view
        return self._found
