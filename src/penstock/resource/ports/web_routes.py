"""Routes below `/web/`."""

from collections.abc import Sequence
from typing import Protocol

from penstock.resource.ports.scripts import DeclaredParameter


class WebRoutes(Protocol):
    """Provided by `triggers`; what changes is told of `web_triggers` and `notebook_endpoints`."""

    async def route_of(self, name: str) -> str | None:
        """The route that is, or belongs to the web trigger or notebook endpoint that is, called so, without case."""
        ...


class WebScripts(Protocol):
    """Provided by `triggers`."""

    async def parameters(self, name: str) -> Sequence[DeclaredParameter]:
        """What a request to the route that `route_of` answers may give. Raises NotFound where nothing runs there."""
        ...
