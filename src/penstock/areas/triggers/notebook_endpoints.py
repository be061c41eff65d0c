"""What is done with notebook endpoints."""

from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import checked_script, own_errors
from penstock.areas.triggers.model import NONE, NotebookEndpoint
from penstock.areas.triggers.routed import Routed
from penstock.areas.triggers.routes import Routes, plain_route, route_errors
from penstock.areas.triggers.stored import NOTEBOOK_ENDPOINTS, RouteOwner, StoredNotebookEndpoint
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, NotFound
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.ports.scripts import Notebooks
from penstock.resource.resource import Resource
from penstock.store.store import Store, Where


class NotebookEndpointService:
    """See Routed for its route."""

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
        self.routed = Routed(self._endpoints, routes, RouteOwner.NOTEBOOK_ENDPOINT)

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
        described = msgspec.structs.replace(described, id=id, endpoint_id=id)
        return (await self.routed.create(described, actor)).shown()

    async def save(self, id: UUID, wanted: NotebookEndpoint, actor: Actor, if_match: str | None) -> NotebookEndpoint:
        """Raises NotFound, Invalid, NameTaken, Stale."""

        async def edit(before: StoredNotebookEndpoint) -> StoredNotebookEndpoint:
            after = await self._described(wanted, id)
            return msgspec.structs.replace(after, access=before.access, secret_hash=before.secret_hash)

        return (await self.routed.change(id, edit, actor, if_match or wanted.e_tag)).shown()

    async def _described(self, wanted: NotebookEndpoint, id: UUID | None) -> StoredNotebookEndpoint:
        errors = [*own_errors(wanted.id, id, wanted.name), *route_errors(wanted.route)]
        if id is not None and wanted.endpoint_id not in (NONE, id):
            errors.append(FieldError("EndpointId", "must be the id of the path, or absent"))
        await checked_script(self._notebooks, wanted.notebook_id, "NotebookId", (), errors, complete=False)
        given = {name: getattr(wanted, name) for name in NotebookEndpoint.__struct_fields__}
        own = {"id": id, "endpoint_id": id or NONE, "route": plain_route(wanted.route)}
        return StoredNotebookEndpoint(**{**given, **own})
