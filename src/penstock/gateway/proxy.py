"""The proxy as the rest of a gateway sees it."""

from pathlib import Path
from typing import Protocol

from penstock.protocol.gateway import GatewayTable


class Proxy(Protocol):
    """Serves a table; see penstock.gateway.envoy."""

    @property
    def address(self) -> str:
        """Where callers reach it."""
        ...

    @property
    def access_log(self) -> Path: ...

    @property
    def problem(self) -> str | None:
        """Why it does not serve what it was given."""
        ...

    async def apply(self, table: GatewayTable) -> None:
        """Returns once the table is served. Raises PenstockError when it cannot be; the one before is served on."""
        ...

    async def reopen_log(self) -> None:
        """Has the access log opened again, by its name."""
        ...
