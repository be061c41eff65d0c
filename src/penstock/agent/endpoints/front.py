"""The agent's connections: requests for endpoints are passed on from here, all others are left to flows."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

from penstock.agent.endpoints.served import ServedEndpoint
from penstock.agent.settings import PREFIX, AgentSettings
from penstock.apihost.downstream import Destination, Downstream
from penstock.apihost.head import RequestHead
from penstock.apihost.trust import TrustedProxies
from penstock.flow.http.http_server import HttpServer, Share


class EndpointFront:
    """A Front, and the Sharing of the agent's HTTP server. own_part: makes the server's part of a connection."""

    def __init__(self, proxies: TrustedProxies, server: HttpServer, own_part: Callable[[], asyncio.Protocol]) -> None:
        self.connections: set[Downstream] = set()
        self._proxies = proxies
        self._server = server
        self._own_part = own_part

    @classmethod
    def of(cls, settings: AgentSettings) -> Share:
        """What shares the server of an agent with these settings."""
        return partial(cls, TrustedProxies(settings.trusted_proxies, PREFIX + "TRUSTED_PROXIES"))

    def connection(self) -> Downstream:
        """See Sharing."""
        return Downstream(self)

    def answered(self, transport: asyncio.BaseTransport) -> None:
        """See Sharing."""
        cast(Downstream, transport.get_protocol()).beside_answered()

    def close(self) -> None:
        """See Sharing."""
        for connection in [*self.connections]:
            connection.abort()

    def at(self, head: RequestHead) -> Destination | None:
        """See Front."""
        path = head.path.decode("latin-1")
        owner = self._server.owner_at(path, head.method.decode("latin-1"))
        if isinstance(owner, ServedEndpoint) and path[len(owner.route) :][:1] in ("", "/"):
            return owner
        return None

    def caller(self, peer: str, head: RequestHead) -> tuple[str, str]:
        """See Front."""
        return self._proxies.caller(peer, *head.forwarded)

    def beside(self) -> asyncio.Protocol:
        """See Front."""
        return self._own_part()
