"""The listener: how callers are spoken with, and what their requests pass. It never changes while Envoy runs.

What changes with the table is in files of its own: routes, clusters, and the two filters that know subscriptions.
"""

from pathlib import Path
from typing import Any

from penstock.gateway.envoy import limits, oidc
from penstock.gateway.envoy.decompression import decompression_filters
from penstock.gateway.envoy.replies import local_replies
from penstock.gateway.envoy.routes import NAME as ROUTES
from penstock.gateway.envoy.tls import tls_from_callers
from penstock.gateway.envoy.typed import Json, extension, seconds, typed
from penstock.gateway.logged_call import LOG_FORMAT

NAME = "callers"
STATISTICS = "gateway"
_HTTP = "envoy.extensions.filters.http."
_CONNECTIONS = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_MUTATION = "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
_LOG = "envoy.extensions.access_loggers.file.v3.FileAccessLog"
_BUFFER = 64 * 1024
_IDLE_SECONDS = 300.0
_HEADERS_SECONDS = 10.0
_STREAM_IDLE_SECONDS = 60.0
_OF_PROXIES = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto")


class Files:
    """The files that Envoy reads, in the folder that it runs in."""

    LISTENERS = "listeners.json"
    CLUSTERS = "clusters.json"
    ROUTES = "routes.json"
    LIMITS = "limits.json"
    TOKENS = "tokens.json"
    CERTIFICATE = "certificate.json"


def listener(host: str, port: int, *, folder: Path, access_log: Path, tls: bool, trusted_proxies: int) -> Json:
    """folder: where Envoy finds its files. trusted_proxies: how many are between callers and the gateway."""
    connections = _connection_manager(folder, access_log, trusted_proxies)
    chain: Json = {"filters": [{"name": "http", "typed_config": connections}]}
    if tls:
        chain["transport_socket"] = tls_from_callers(folder / Files.CERTIFICATE)
    return typed(
        "envoy.config.listener.v3.Listener",
        name=NAME,
        address={"socket_address": {"address": host, "port_value": port}},
        filter_chains=[chain],
        per_connection_buffer_limit_bytes=_BUFFER,
    )


def path_source(path: Path) -> Json:
    """A file that is read again when another one is moved in its place."""
    return {"path_config_source": {"path": str(path)}, "resource_api_version": "V3"}


def _connection_manager(folder: Path, access_log: Path, trusted_proxies: int) -> Json:
    return typed(
        _CONNECTIONS,
        stat_prefix=STATISTICS,
        rds={"route_config_name": ROUTES, "config_source": path_source(folder / Files.ROUTES)},
        http_filters=[
            _discovered(oidc.FILTER, folder / Files.TOKENS, "jwt_authn.v3.JwtAuthentication"),
            _discovered(limits.FILTER, folder / Files.LIMITS, "local_ratelimit.v3.LocalRateLimit"),
            *decompression_filters(),
            extension("router", _HTTP + "router.v3.Router", dynamic_stats=False),
        ],
        upgrade_configs=[{"upgrade_type": "websocket"}],
        access_log=[
            extension("calls", _LOG, path=str(access_log), log_format={"json_format": LOG_FORMAT}),
        ],
        local_reply_config=local_replies(),
        **_callers(trusted_proxies),
        **_paths(),
        **_bounds(),
    )


def _callers(trusted_proxies: int) -> dict[str, Any]:
    """Who calls, and what callers may say of themselves."""
    dropped = [] if trusted_proxies else [{"remove": name} for name in _OF_PROXIES]
    own = [{"remove_on_match": {"key_matcher": {"prefix": prefix}}} for prefix in (oidc.OWN_HEADERS, "x-envoy-")]
    return {
        "use_remote_address": True,
        "xff_num_trusted_hops": trusted_proxies,
        "early_header_mutation_extensions": [extension("callers", _MUTATION, mutations=[*own, *dropped])],
        "generate_request_id": True,
        "always_set_request_id_in_response": True,
        "server_name": "penstock",
    }


def _paths() -> dict[str, Any]:
    """Upstreams get the path that the route was found by, and nothing that they could read in another way."""
    return {
        "normalize_path": True,
        "merge_slashes": True,
        "path_with_escaped_slashes_action": "REJECT_REQUEST",
        "strip_trailing_host_dot": True,
    }


def _bounds() -> dict[str, Any]:
    return {
        "common_http_protocol_options": {
            "idle_timeout": seconds(_IDLE_SECONDS),
            # A server that takes x_tenant for x-tenant would believe a caller what only the gateway says.
            "headers_with_underscores_action": "DROP_HEADER",
        },
        "http2_protocol_options": {
            "max_concurrent_streams": 100,
            "initial_stream_window_size": _BUFFER,
            "initial_connection_window_size": 1024 * 1024,
        },
        "request_headers_timeout": seconds(_HEADERS_SECONDS),
        "stream_idle_timeout": seconds(_STREAM_IDLE_SECONDS),
    }


def _discovered(name: str, path: Path, kind: str) -> Json:
    types = ["type.googleapis.com/" + _HTTP + kind]
    return {
        "name": name,
        "config_discovery": {"config_source": path_source(path), "type_urls": types},
        "disabled": True,  # but for routes that say otherwise
    }
