"""What endpoints show of themselves."""

from typing import Protocol


class EndpointDocuments(Protocol):
    """Provided by `endpoints`."""

    async def document(self, route: str) -> str | None:
        """The OpenAPI document that an agent saw last of the endpoint at this route, compared without case."""
        ...
