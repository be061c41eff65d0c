"""What runs at routes below `/web/`, for those that describe them."""

from collections.abc import Sequence

from penstock.areas.triggers.named_routes import NamedRoutes
from penstock.areas.triggers.web_runs import WebRuns
from penstock.kernel.errors import NotFound
from penstock.resource.ports.scripts import DeclaredParameter


class NamedScripts:
    """Parameters that the trigger fixes are nobody's to give."""

    def __init__(self, routes: NamedRoutes, runs: WebRuns) -> None:
        self._routes = routes
        self._runs = runs

    async def parameters(self, name: str) -> Sequence[DeclaredParameter]:
        """See WebScripts."""
        route = await self._routes.route_of(name)
        if route is None:
            raise NotFound.of("route", name)
        served = await self._runs.served(route)
        script = await served.scripts.known(served.script_id)
        fixed = {each.name for each in served.fixed}
        return [each for each in script.parameters if each.name not in fixed]
