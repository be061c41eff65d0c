"""Redirects of an upstream that the gateway follows itself, to the upstream's own hosts and nowhere else.

Envoy looks for a route of the new address. The request has a mark by then, which callers cannot set: the name of the
route that it took first. Behind the mark there are routes for addresses of the same upstream alone; no route, and the
caller gets the redirect.
"""

from penstock.gateway.envoy.hosts import authority
from penstock.gateway.envoy.typed import Json
from penstock.protocol.gateway import GatewayUpstream

MARK = "x-penstock-route"
_MOST = 5
_STATUSES = [301, 302, 303, 307, 308]


def following() -> Json:
    """A part of a route's action."""
    return {
        "internal_redirect_policy": {
            "max_internal_redirects": _MOST,
            "redirect_response_codes": _STATUSES,
            "response_headers_to_copy": [],
        }
    }


def redirected_matches(upstream: GatewayUpstream) -> list[Json]:
    """What addresses a redirect may lead to."""
    hosts = sorted({authority(host, upstream.tls) for host in upstream.hosts})
    return [{"prefix": "/", "headers": [{"name": ":authority", "string_match": {"exact": host}}]} for host in hosts]
