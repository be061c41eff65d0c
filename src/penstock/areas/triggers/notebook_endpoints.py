"""What is done with notebook endpoints."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import own_errors, script_for
from penstock.areas.triggers.model import NONE, Access, NotebookEndpoint, RouteAccess
from penstock.areas.triggers.routes import Routes, new_access, plain_route, route_errors
from penstock.areas.triggers.stored import NOTEBOOK_ENDPOINTS, RouteOwner, StoredNotebookEndpoint
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.ports import Notebooks
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store, Where
from penstock.store.write import Write

_OWNER = RouteOwner.NOTEBOOK_ENDPOINT


class NotebookEndpointService:
    """An endpoint and its route are one commit."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, notebooks: Notebooks, routes: Routes) -> None:
        self._endpoints = Resource(
            NOTEBOOK_ENDPOINTS,
            store,
            changes,
            clock,
            kind="notebook endpoint",
            audited=StoredNotebookEndpoint.shown,
        )
        self._notebooks = notebooks
        self._routes = routes

    async def all(self) -> list[NotebookEndpoint]:
        """Newest first."""
        return [endpoint.shown() for endpoint in await self._endpoints.decoded()]

    async def of(self, id: UUID) -> list[NotebookEndpoint]:
        """The endpoint of this id, or those of the notebook of this id. Raises NotFound when it is neither's."""
        try:
            return [(await self.get(id)).shown()]
        except NotFound:
            await self._notebooks.known(id)
            found = await self._endpoints.decoded([Where("script", "=", str(id))])
            return [endpoint.shown() for endpoint in found]

    async def get(self, id: UUID) -> StoredNotebookEndpoint:
        """Raises NotFound."""
        return await self._endpoints.get(id)

    async def create(self, wanted: NotebookEndpoint, actor: Actor) -> NotebookEndpoint:
        """Raises Invalid, NameTaken."""
        described = await self._described(wanted, None)
        id = new_id()
        stored, writes = self._endpoints.plan_create(msgspec.structs.replace(described, id=id, endpoint_id=id), actor)
        taken = await self._routes.plan_take(id, _OWNER, stored.route or "")
        await self._endpoints.commit([*writes, *taken], stored)
        return stored.shown()

    async def save(self, id: UUID, wanted: NotebookEndpoint, actor: Actor, if_match: str | None) -> NotebookEndpoint:
        """Raises NotFound, Invalid, NameTaken, Stale."""

        async def attempt() -> NotebookEndpoint:
            before = await self.get(id)
            described = await self._described(wanted, id)
            after = msgspec.structs.replace(described, access=before.access, secret_hash=before.secret_hash)
            stored, writes = self._endpoints.plan_replace(after, before, actor, if_match=if_match)
            moved: Sequence[Write] = ()
            if stored.route != before.route:
                moved = await self._routes.plan_take(id, _OWNER, stored.route or "")
            await self._endpoints.commit([*writes, *moved], stored)
            return stored.shown()

        return await last_wins(attempt, if_match or wanted.e_tag)

    async def set_access(self, id: UUID, access: Access, actor: Actor) -> RouteAccess:
        """The secret made before does not hold any more. Raises NotFound."""
        shown, hashed = new_access(access)
        await self._endpoints.change(
            id, lambda before: msgspec.structs.replace(before, access=access, secret_hash=hashed), actor
        )
        return shown

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        before = await self.get(id)
        writes = [*self._endpoints.plan_delete(before, actor, if_match), self._routes.plan_release(id)]
        await self._endpoints.commit(writes, before)

    async def _described(self, wanted: NotebookEndpoint, id: UUID | None) -> StoredNotebookEndpoint:
        errors = [*own_errors(wanted.id, id, wanted.name), *route_errors(wanted.route)]
        if id is not None and wanted.endpoint_id not in (NONE, id):
            errors.append(FieldError("EndpointId", "must be the id of the path, or absent"))
        try:
            await script_for(self._notebooks, wanted.notebook_id, "NotebookId")
        except Invalid as invalid:
            raise Invalid([*errors, *invalid.errors]) from None
        if errors:
            raise Invalid(errors)
        given = {name: getattr(wanted, name) for name in NotebookEndpoint.__struct_fields__}
        own = {"id": id, "endpoint_id": id or NONE, "route": plain_route(wanted.route)}
        return StoredNotebookEndpoint(**{**given, **own})
