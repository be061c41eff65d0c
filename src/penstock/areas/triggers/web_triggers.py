"""What is done with web triggers."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import own_errors, parameter_errors, script_for, type_errors
from penstock.areas.triggers.model import Access, RouteAccess, WebTrigger
from penstock.areas.triggers.routes import Routes, new_access, plain_route, route_errors
from penstock.areas.triggers.stored import WEB_TRIGGERS, RouteOwner, StoredWebTrigger
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.ports import Actions
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store, Where
from penstock.store.write import Write

TYPE = "web"
_OWNER = RouteOwner.WEB_TRIGGER


class WebTriggerService:
    """A trigger and its route are one commit."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, actions: Actions, routes: Routes) -> None:
        self._triggers = Resource(
            WEB_TRIGGERS, store, changes, clock, kind="web trigger", audited=StoredWebTrigger.shown
        )
        self._actions = actions
        self._routes = routes

    async def all(self, action: UUID | None = None) -> list[WebTrigger]:
        """Newest first. action: only those that run it."""
        where = [Where("script", "=", str(action))] if action is not None else []
        return [trigger.shown() for trigger in await self._triggers.decoded(where)]

    async def get(self, id: UUID) -> StoredWebTrigger:
        """Raises NotFound."""
        return await self._triggers.get(id)

    async def create(self, wanted: WebTrigger, actor: Actor) -> WebTrigger:
        """Raises Invalid, NameTaken."""
        described = msgspec.structs.replace(await self._described(wanted, None), id=new_id())
        stored, writes = self._triggers.plan_create(described, actor)
        taken = await self._routes.plan_take(stored.key, _OWNER, stored.route or "")
        await self._triggers.commit([*writes, *taken], stored)
        return stored.shown()

    async def save(self, id: UUID, wanted: WebTrigger, actor: Actor, if_match: str | None) -> WebTrigger:
        """Raises NotFound, Invalid, NameTaken, Stale."""

        async def attempt() -> WebTrigger:
            before = await self.get(id)
            described = await self._described(wanted, id)
            kept = before.secret_hash if described.access is Access.SECRET else None
            after = msgspec.structs.replace(described, secret_hash=kept)
            return (await self._replace(after, before, actor, if_match)).shown()

        return await last_wins(attempt, if_match or wanted.e_tag)

    async def toggle(self, id: UUID, actor: Actor) -> WebTrigger:
        """Raises NotFound."""
        changed = await self._triggers.change(
            id, lambda before: msgspec.structs.replace(before, is_enabled=not before.is_enabled), actor
        )
        return changed.shown()

    async def set_access(self, id: UUID, access: Access, actor: Actor) -> RouteAccess:
        """The secret made before does not hold any more. Raises NotFound."""
        shown, hashed = new_access(access)
        await self._triggers.change(
            id, lambda before: msgspec.structs.replace(before, trigger_type=access, secret_hash=hashed), actor
        )
        return shown

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        before = await self.get(id)
        writes = [*self._triggers.plan_delete(before, actor, if_match), self._routes.plan_release(id)]
        await self._triggers.commit(writes, before)

    async def _replace(
        self, after: StoredWebTrigger, before: StoredWebTrigger, actor: Actor, if_match: str | None
    ) -> StoredWebTrigger:
        stored, writes = self._triggers.plan_replace(after, before, actor, if_match=if_match)
        moved: Sequence[Write] = ()
        if stored.route != before.route:
            moved = await self._routes.plan_take(stored.key, _OWNER, stored.route or "")
        await self._triggers.commit([*writes, *moved], stored)
        return stored

    async def _described(self, wanted: WebTrigger, id: UUID | None) -> StoredWebTrigger:
        errors = [
            *own_errors(wanted.id, id, wanted.name),
            *type_errors(wanted.trigger_type, *Access),
            *route_errors(wanted.route),
        ]
        try:
            action = await script_for(self._actions, wanted.action_id, "ActionId")
        except Invalid as invalid:
            raise Invalid([*errors, *invalid.errors]) from None
        errors += parameter_errors(action, wanted.parameters or [], complete=False)
        if errors:
            raise Invalid(errors)
        given = {name: getattr(wanted, name) for name in WebTrigger.__struct_fields__}
        own = {
            "id": id,
            "action_name": action.name,
            "route": plain_route(wanted.route),
            "trigger_type": wanted.trigger_type or Access.SECRET.value,
        }
        return StoredWebTrigger(**{**given, **own})
