"""What is compiled from a whole collection, and compiled anew when the collection has changed."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from penstock.kernel.entity import Entity
from penstock.resource.mirror import Mirror
from penstock.store.definition import Collection
from penstock.store.store import Store

E = TypeVar("E", bound=Entity)
P = TypeVar("P")
C = TypeVar("C")


class Compiled(Generic[E, P, C]):
    """project: what is kept of each entity; compile: makes the whole of it.

    Whoever asks after `invalidate` gets a whole that holds every change from before that call.
    """

    def __init__(
        self, store: Store, collection: Collection[E], project: Callable[[E], P], compile: Callable[[Iterable[P]], C]
    ) -> None:
        self._mirror = Mirror(store, collection, project)
        self._compile = compile
        self._view: object = None
        self._compiled = compile(())
        self._wanted = 1
        self._reached = 0
        self._turn = asyncio.Lock()

    def invalidate(self) -> None:
        self._wanted += 1

    async def current(self) -> C:
        """Costs nothing while nothing was invalidated."""
        if self._reached < self._wanted:
            await self._refresh()
        return self._compiled

    async def _refresh(self) -> None:
        wanted = self._wanted
        async with self._turn:
            if self._reached >= wanted:
                return
            reached = self._wanted
            view = await self._mirror.current()
            if view is not self._view:
                self._compiled, self._view = self._compile(view.values()), view
            self._reached = reached
