"""Routes below `/web/`, for those that send requests there."""

from penstock.areas.triggers.routes import Routes, plain_route
from penstock.areas.triggers.stored import NOTEBOOK_ENDPOINTS, WEB_TRIGGERS
from penstock.kernel.names import name_key
from penstock.resource.mirror import Mirror
from penstock.store.store import Store


class NamedRoutes:
    """A route comes before a name; of several with one name the one that was made last is meant."""

    def __init__(self, store: Store, routes: Routes) -> None:
        self._routes = routes
        self._triggers = Mirror(store, WEB_TRIGGERS, lambda trigger: (trigger.name, trigger.route))
        self._endpoints = Mirror(store, NOTEBOOK_ENDPOINTS, lambda endpoint: (endpoint.name, endpoint.route))

    async def route_of(self, name: str) -> str | None:
        """See WebRoutes."""
        found = await self._routes.find(plain_route(name))
        if found is not None:
            return found.route
        for mirror in (self._triggers, self._endpoints):
            view = await mirror.current()
            routes = [route for id, (own, route) in sorted(view.items(), reverse=True) if _same(own, name)]
            if routes:
                return routes[0]
        return None


def _same(one: str | None, other: str) -> bool:
    return one is not None and name_key(one) == name_key(other)
