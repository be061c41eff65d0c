"""Routes below `/web/`."""

from typing import Protocol


class WebRoutes(Protocol):
    """Provided by `triggers`; what changes is told of `web_triggers` and `notebook_endpoints`."""

    async def route_of(self, name: str) -> str | None:
        """The route that is, or belongs to the web trigger or notebook endpoint that is, called so, without case."""
        ...
