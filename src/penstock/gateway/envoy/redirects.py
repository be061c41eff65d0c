"""Redirects of an upstream that the gateway follows itself, to the upstream's own hosts and nowhere else.

Envoy looks for a route of the new address. The request has a mark by then, which callers cannot set: the name of the
route that it took first. Behind the mark there are routes for addresses of the same upstream alone; no route, and the
caller gets the redirect.
"""

import re

from penstock.gateway.envoy.hosts import authority
from penstock.gateway.envoy.typed import Json, extension
from penstock.protocol.gateway import GatewayUpstream

MARK = "x-penstock-route"
_LUA = "envoy.extensions.filters.http.lua.v3.Lua"
_COMPLETE = """
function envoy_on_response(handle)
  local location = handle:headers():get("location")
  if location and (location == "/" or location:match("^/[^/]")) then
    handle:headers():replace("location", "%s" .. location)
  end
end
"""
_QUOTABLE = re.compile(r"[^\w.\-:\[\]]")
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


def completing_filters(upstream: GatewayUpstream) -> list[Json]:
    """Filters of a cluster: Envoy follows whole addresses alone, and servers answer with paths as often.

    A path leads to any of the hosts.
    """
    host = _QUOTABLE.sub("", next((authority(host, upstream.tls) for host in upstream.hosts), ""))
    script = _COMPLETE % f"{'https' if upstream.tls else 'http'}://{host}"
    return [
        extension("complete-redirects", _LUA, default_source_code={"inline_string": script}),
        extension("codec", "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
    ]


def redirected_matches(upstream: GatewayUpstream) -> list[Json]:
    """What addresses a redirect may lead to."""
    hosts = sorted({authority(host, upstream.tls) for host in upstream.hosts})
    return [{"prefix": "/", "headers": [{"name": ":authority", "string_match": {"exact": host}}]} for host in hosts]
