"""What all connections to upstreams have in common."""

from typing import NamedTuple

from penstock.protocol.gateway import GatewayHost


class Outbound(NamedTuple):
    """connections: the most to one upstream. authorities: file of those whose certificates hold.

    proxy: an HTTP proxy, for versions that use one.
    """

    connections: int
    authorities: str
    proxy: GatewayHost | None = None
