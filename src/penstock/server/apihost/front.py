"""The component's connections: requests for endpoints are passed on from here, all others are operations."""

import asyncio
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from penstock.apihost.downstream import Destination, Downstream
from penstock.apihost.entrance import KEY_HEADER, Entrance
from penstock.apihost.head import RequestHead
from penstock.apihost.proxy import Proxy
from penstock.apihost.refusal import Refusal
from penstock.apihost.trust import TrustedProxies
from penstock.server.apihost.hosted import Hosted, HostedEndpoints
from penstock.server.http_connection import HttpConnection

_RETRY_SECONDS = 5


class EndpointConnections:
    """What uvicorn makes connections with."""

    def __init__(self, endpoints: HostedEndpoints, entrance: Entrance, proxies: TrustedProxies) -> None:
        self._endpoints = endpoints
        self._entrance = entrance
        self._proxies = proxies
        self._front: _Front | None = None

    def __call__(self, config: uvicorn.Config, server_state: ServerState, **more: Any) -> asyncio.Protocol:
        if self._front is None:
            self._front = _Front(self._endpoints, self._entrance, self._proxies, config, server_state, more)
        return Downstream(self._front)


class _Front:
    def __init__(
        self,
        endpoints: HostedEndpoints,
        entrance: Entrance,
        proxies: TrustedProxies,
        config: uvicorn.Config,
        state: ServerState,
        more: dict[str, Any],
    ) -> None:
        self.connections = cast("set[Downstream]", state.connections)  # which uvicorn ends when it stops
        self._endpoints = endpoints
        self._entrance = entrance
        self._proxies = proxies
        self._config = config
        self._state = state
        self._more = more

    def at(self, head: RequestHead) -> Destination | None:
        """See Front."""
        hosted = self._endpoints.at(head.path.decode("latin-1"))
        return _HostedDestination(hosted, self._entrance) if hosted is not None else None

    def caller(self, peer: str, head: RequestHead) -> tuple[str, str]:
        """See Front."""
        return self._proxies.caller(peer, *head.forwarded)

    def beside(self) -> asyncio.Protocol:
        """See Front."""
        return _SharedConnection(self._config, self._state, **self._more)


class _SharedConnection(HttpConnection):
    """Serves operations only, and is told of nothing else: whether the connection idles, it cannot know."""

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unset_keepalive_if_required()
        if not self.transport.is_closing():
            cast(Downstream, self.transport.get_protocol()).beside_answered()


class _HostedDestination:
    def __init__(self, hosted: Hosted, entrance: Entrance) -> None:
        self.route = hosted.route
        self._hosted = hosted
        self._entrance = entrance

    @property
    def proxy(self) -> Proxy | None:
        return self._hosted.life.proxy

    def refusal(self, head: RequestHead) -> Refusal | None:
        """See Destination."""
        if not self._entrance.admits(head.key):
            return Refusal(401, f"The header {KEY_HEADER} must hold the key of the endpoints")
        if self._hosted.life.proxy is None:
            return Refusal(503, f"The endpoint {self.route} is {self._hosted.life.status}", _RETRY_SECONDS)
        return None
