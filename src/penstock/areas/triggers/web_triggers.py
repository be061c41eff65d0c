"""What is done with web triggers."""

from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import checked_script, own_errors, type_errors
from penstock.areas.triggers.model import Access, WebTrigger
from penstock.areas.triggers.routed import Routed
from penstock.areas.triggers.routes import Routes, plain_route, route_errors
from penstock.areas.triggers.stored import WEB_TRIGGERS, RouteOwner, StoredWebTrigger
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.resource.changes import Changes
from penstock.resource.ports.scripts import Actions
from penstock.resource.resource import Resource
from penstock.store.store import Store, Where

TYPE = "web"


class WebTriggerService:
    """See Routed for its route."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, actions: Actions, routes: Routes) -> None:
        self._triggers = Resource(
            WEB_TRIGGERS, store, changes, clock, kind="web trigger", audited=StoredWebTrigger.shown
        )
        self._actions = actions
        self.routed = Routed(self._triggers, routes, RouteOwner.WEB_TRIGGER)

    async def all(self, action: UUID | None = None) -> list[WebTrigger]:
        """Newest first. action: only those that run it."""
        where = [Where("script", "=", str(action))] if action is not None else []
        return [trigger.shown() for trigger in await self._triggers.decoded(where)]

    async def get(self, id: UUID) -> StoredWebTrigger:
        """Raises NotFound."""
        return await self._triggers.get(id)

    async def create(self, wanted: WebTrigger, actor: Actor) -> WebTrigger:
        """Raises Invalid, NameTaken."""
        return (await self.routed.create(await self._described(wanted, None), actor)).shown()

    async def save(self, id: UUID, wanted: WebTrigger, actor: Actor, if_match: str | None) -> WebTrigger:
        """Raises NotFound, Invalid, NameTaken, Stale."""

        async def edit(before: StoredWebTrigger) -> StoredWebTrigger:
            after = await self._described(wanted, id)
            kept = before.secret_hash if after.access is Access.SECRET else None
            return msgspec.structs.replace(after, secret_hash=kept)

        return (await self.routed.change(id, edit, actor, if_match or wanted.e_tag)).shown()

    async def toggle(self, id: UUID, actor: Actor) -> WebTrigger:
        """Raises NotFound."""
        changed = await self._triggers.change(
            id, lambda before: msgspec.structs.replace(before, is_enabled=not before.is_enabled), actor
        )
        return changed.shown()

    async def _described(self, wanted: WebTrigger, id: UUID | None) -> StoredWebTrigger:
        errors = [
            *own_errors(wanted.id, id, wanted.name),
            *type_errors(wanted.trigger_type, *Access),
            *route_errors(wanted.route),
        ]
        action = await checked_script(
            self._actions, wanted.action_id, "ActionId", wanted.parameters, errors, complete=False
        )
        given = {name: getattr(wanted, name) for name in WebTrigger.__struct_fields__}
        own = {
            "id": id,
            "action_name": action.name,
            "route": plain_route(wanted.route),
            "trigger_type": wanted.trigger_type or Access.SECRET.value,
        }
        return StoredWebTrigger(**{**given, **own})
