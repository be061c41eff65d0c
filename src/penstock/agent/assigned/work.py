"""All assigned work of the agent: every kind entered, followed, and told of notices."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar

from penstock.agent.assigned.follower import Follower
from penstock.agent.assigned.kind import AssignedKind, Surroundings

K = TypeVar("K", bound=AssignedKind)


class AssignedWork:
    """Works within `async with`, while `serve` runs as a task."""

    def __init__(self, kinds: Sequence[type[AssignedKind]], surroundings: Surroundings) -> None:
        self._kinds = [kind(surroundings) for kind in kinds]
        self._followers = {
            each.kind: Follower(each.kind, each.keeper, surroundings.uplink, surroundings.access)
            for each in self._kinds
        }
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as entering:
            for kind in self._kinds:
                await entering.enter_async_context(kind)
            self._stack = entering.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def of(self, kind: type[K]) -> K:
        """The kind of this class. Raises LookupError."""
        found = next((each for each in self._kinds if isinstance(each, kind)), None)
        if found is None:
            raise LookupError(kind.__name__)
        return found

    def notice(self, kind: str | None = None) -> None:
        """Work of the kind may have changed; of every kind without one. A kind that is not known is passed over."""
        for name, follower in self._followers.items():
            if kind in (None, name):
                follower.notice()

    async def serve(self) -> None:
        """Follows the servers, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for follower in self._followers.values():
                group.create_task(follower.serve())
