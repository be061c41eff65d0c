"""What installations may set about what gateways serve."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TablePolicy:
    """server_address: where gateways reach the servers, for versions that web triggers serve."""

    server_address: str = ""
