"""A collection held in memory, for what is read far more often than it changes."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.store.definition import Collection
from penstock.store.store import Document, Store, Where, decode

E = TypeVar("E", bound=Entity)
P = TypeVar("P")

_AT_ONCE = 1000


class Mirror(Generic[E, P]):
    """Of each live entity of a collection what `project` makes of it.

    Being current costs one read of ids and ETags; only entities whose ETag differs are read and decoded.
    Callers that come while such a read goes on share the next one.
    """

    def __init__(self, store: Store, collection: Collection[E], project: Callable[[E], P]) -> None:
        self._store = store
        self._collection = collection
        self._project = project
        self._tags: dict[str, str] = {}
        self._view: Mapping[UUID, P] = {}
        self._began = float("-inf")
        self._turn = asyncio.Lock()

    async def current(self, max_age: float = 0.0) -> Mapping[UUID, P]:
        """By id; at most `max_age` seconds old, 0 being what is stored now. Must not be changed by the caller."""
        asked = _now()
        if asked - self._began > max_age:
            async with self._turn:
                if self._began < asked:
                    began = _now()
                    await self._refresh()
                    self._began = began
        return self._view

    async def _refresh(self) -> None:
        rows: Sequence[tuple[Any, ...]] = await self._store.values(self._collection, ["id", "e_tag"])
        stored: dict[str, str] = dict(rows)
        if stored == self._tags:
            return
        changed = [id for id, e_tag in stored.items() if self._tags.get(id) != e_tag]
        documents = await self._read(changed, everything=len(changed) == len(stored))
        view = {id: entry for id, entry in self._view.items() if str(id) in stored}
        for document in documents:
            view[document.id] = self._project(decode(document.body, self._collection.type))
            stored[str(document.id)] = document.e_tag
        self._tags, self._view = stored, view

    async def _read(self, ids: Sequence[str], everything: bool) -> Sequence[Document]:
        if everything:
            return await self._store.list(self._collection, limit=2**31 - 1)
        documents: list[Document] = []
        for start in range(0, len(ids), _AT_ONCE):
            where = Where("id", "in", ids[start : start + _AT_ONCE])
            documents += await self._store.list(self._collection, [where], limit=_AT_ONCE)
        return documents


def _now() -> float:
    # The event loop's own clock stands still within one of its turns, so that a change could seem to be read already.
    return time.monotonic()
