"""Resources with a route below `/web/`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar, cast
from uuid import UUID

from penstock.areas.triggers.model import Access, RouteAccess
from penstock.areas.triggers.routes import Routes, new_access
from penstock.areas.triggers.stored import RouteOwner, StoredNotebookEndpoint, StoredWebTrigger
from penstock.kernel.actor import Actor
from penstock.resource.resource import Resource, last_wins
from penstock.store.write import Write

S = TypeVar("S", bound=StoredWebTrigger | StoredNotebookEndpoint)


class Routed(Generic[S]):
    """An entity and its route are one commit."""

    def __init__(self, resource: Resource[S], routes: Routes, owner: RouteOwner) -> None:
        self._resource = resource
        self._routes = routes
        self._owner = owner

    async def create(self, wanted: S, actor: Actor) -> S:
        """wanted: checked. Raises NameTaken."""
        stored, writes = self._resource.plan_create(wanted, actor)
        taken = await self._routes.plan_take(stored.key, self._owner, stored.route or "")
        await self._resource.commit([*writes, *taken], stored)
        return stored

    async def change(self, id: UUID, edit: Callable[[S], Awaitable[S]], actor: Actor, if_match: str | None = None) -> S:
        """edit: makes the checked successor. Raises NotFound, NameTaken, Stale, and what `edit` raises."""

        async def attempt() -> S:
            before = await self._resource.get(id)
            stored, writes = self._resource.plan_replace(await edit(before), before, actor, if_match=if_match)
            moved: Sequence[Write] = ()
            if stored.route != before.route:
                moved = await self._routes.plan_take(id, self._owner, stored.route or "")
            await self._resource.commit([*writes, *moved], stored)
            return stored

        return await last_wins(attempt, if_match)

    async def set_access(self, id: UUID, access: Access, actor: Actor) -> RouteAccess:
        """The secret made before does not hold any more. Raises NotFound."""
        shown, hashed = new_access(access)
        await self._resource.change(id, lambda before: cast(S, before.with_access(access, hashed)), actor)
        return shown

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        before = await self._resource.get(id)
        writes = [*self._resource.plan_delete(before, actor, if_match), self._routes.plan_release(id)]
        await self._resource.commit(writes, before)
