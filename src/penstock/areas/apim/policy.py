"""What installations may set about published APIs."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LocalGatewayPolicy:
    """file: what a gateway on the same machine reads; None: there is none. servers: addresses of the bus."""

    file: Path | None
    servers: tuple[str, ...]
