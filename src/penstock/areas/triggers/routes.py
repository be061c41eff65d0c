"""Routes below `/web/`: each is one web trigger's or one notebook endpoint's."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.areas.triggers.model import Access, RouteAccess
from penstock.areas.triggers.stored import NOTEBOOK_ENDPOINTS, WEB_ROUTES, WEB_TRIGGERS, RouteOwner, WebRoute
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, NameTaken
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.resource.token import hash_token, new_token
from penstock.store.definition import Collection
from penstock.store.store import Store, decode
from penstock.store.write import Delete, Insert, Replace, Write

_PREFIX = "pwt_"
_OWNERS: Mapping[RouteOwner, Collection[Any]] = {
    RouteOwner.WEB_TRIGGER: WEB_TRIGGERS,
    RouteOwner.NOTEBOOK_ENDPOINT: NOTEBOOK_ENDPOINTS,
}


def plain_route(given: str | None) -> str:
    """The route without the slash that it may begin with."""
    return (given or "").removeprefix("/")


def route_errors(given: str | None) -> list[FieldError]:
    """What is wrong with a route: one segment of a path."""
    route = plain_route(given)
    if "/" in route:
        return [FieldError("Route", f"is one segment below /web/, without a slash, such as {route.replace('/', '-')}")]
    return name_errors("Route", route)


def new_access(access: Access) -> tuple[RouteAccess, str | None]:
    """A fresh secret where one is needed, and the hash to be kept."""
    if access is Access.OPEN:
        return RouteAccess(access=access), None
    secret = new_token(_PREFIX)
    return RouteAccess(access=access, secret=secret), hash_token(secret)


class Routes:
    """Plans writes that are committed together with those of what serves the route."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def find(self, route: str) -> WebRoute | None:
        """The routes are compared without case."""
        document = await self._store.find(WEB_ROUTES, "route", route)
        return decode(document.body, WebRoute) if document is not None else None

    async def plan_take(self, id: UUID, owner: RouteOwner, route: str) -> Sequence[Write]:
        """The writes that give it the route, and no other any more. Raises NameTaken."""
        now = self._clock.now()
        writes: list[Write] = []
        other = await self.find(route)
        if other is not None and other.key != id:
            if await self._store.get(_OWNERS[other.owner], other.key) is not None:
                raise NameTaken(f"the route {route} is taken by the {other.owner} {other.key}")
            writes.append(Delete(WEB_ROUTES, other.key, now, expected=other.e_tag))  # it expired
        taken = WebRoute(id=id, e_tag=new_id().hex, created_date=now, route=route, owner=owner)
        if await self._store.get(WEB_ROUTES, id) is None:
            return [*writes, Insert(WEB_ROUTES, id, taken.e_tag or "", taken, now)]
        return [*writes, Replace(WEB_ROUTES, id, taken.e_tag or "", taken, now)]

    def plan_release(self, id: UUID) -> Write:
        """The write that frees the route."""
        return Delete(WEB_ROUTES, id, self._clock.now())
