"""Clusters: the upstream of each version, with how it is connected to and watched.

Hosts are part of their cluster. Envoy would read them from files of their own, with one inotify instance for each
cluster, and Linux gives a user 128. A cluster that changes is replaced when the new one is ready; calls in progress end
on the old one.
"""

from collections.abc import Iterable

from penstock.gateway.envoy.headers import added, merged
from penstock.gateway.envoy.hosts import endpoints, is_address
from penstock.gateway.envoy.outbound import Outbound
from penstock.gateway.envoy.redirects import completing_filters
from penstock.gateway.envoy.tls import tls_to
from penstock.gateway.envoy.typed import Json, extension, seconds, typed
from penstock.protocol.gateway import GatewayUpstream, GatewayVersion

_CLUSTER = "envoy.config.cluster.v3.Cluster"
_HTTP = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_PROXIED = "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport"
_PLAIN = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
_BUFFER = 64 * 1024
_IDLE_SECONDS = 4.0
"""Many servers drop connections that were idle for 5 s; a request that is under way then is lost."""
_MOST_RETRIES = {"budget_percent": {"value": 25}, "min_retry_concurrency": 100}
_NEVER = 0


def cluster_name(version: GatewayVersion) -> str:
    """The same while the version exists."""
    return f"{version.api}/{version.version}"


def clusters(versions: Iterable[GatewayVersion], outbound: Outbound) -> dict[str, Json]:
    """By name."""
    return {cluster_name(each): _cluster(each, outbound) for each in versions}


def _cluster(version: GatewayVersion, outbound: Outbound) -> Json:
    name, upstream = cluster_name(version), version.upstream
    proxy = outbound.proxy if version.connection.use_proxy else None
    named = proxy is None and any(not is_address(host.host) for host in upstream.hosts)
    return typed(
        _CLUSTER,
        name=name,
        type="STRICT_DNS" if named else "STATIC",
        **({"dns_lookup_family": "V4_PREFERRED"} if named else {}),
        connect_timeout=seconds(version.connection.connect_timeout_seconds),
        lb_policy="LEAST_REQUEST",
        load_assignment=endpoints(name, upstream, proxy.host if proxy else None),
        per_connection_buffer_limit_bytes=_BUFFER,
        common_lb_config={"healthy_panic_threshold": {"value": _NEVER}},
        circuit_breakers={"thresholds": [_thresholds(outbound.connections)]},
        typed_extension_protocol_options={_HTTP: _http_options(version, outbound)},
        **_transport(version, outbound),
        **_watched(upstream),
    )


def _thresholds(connections: int) -> Json:
    bounds = dict.fromkeys(("max_connections", "max_pending_requests", "max_requests"), connections)
    return {**bounds, "retry_budget": _MOST_RETRIES}


def _http_options(version: GatewayVersion, outbound: Outbound) -> Json:
    redirects = version.connection.allow_auto_redirect
    # A proxy learns from the address of a plain request where it goes, and is told of others before.
    whole = _is_proxied(version, outbound) and not version.upstream.tls
    return typed(
        _HTTP,
        explicit_http_config={"http_protocol_options": {"send_fully_qualified_url": whole}},
        common_http_protocol_options={"idle_timeout": seconds(_IDLE_SECONDS)},
        **({"http_filters": completing_filters(version.upstream)} if redirects else {}),
    )


def _transport(version: GatewayVersion, outbound: Outbound) -> Json:
    upstream = version.upstream
    socket = tls_to(upstream.hosts, outbound.authorities) if upstream.tls else None
    if outbound.proxy is not None and _is_proxied(version, outbound):
        within = socket or extension("plain", _PLAIN)
        address = {"socket_address": {"address": outbound.proxy.host, "port_value": outbound.proxy.port}}
        socket = extension("proxy", _PROXIED, transport_socket=within, default_proxy_address=address)
    return {"transport_socket": socket} if socket else {}


def _is_proxied(version: GatewayVersion, outbound: Outbound) -> bool:
    return version.connection.use_proxy and outbound.proxy is not None


def _watched(upstream: GatewayUpstream) -> Json:
    """No calls for hosts that are not well: by their health path, or by failed connections where there are others."""
    watched: Json = {}
    if upstream.health_path is not None:
        watched["health_checks"] = [_health_check(upstream, upstream.health_path)]
    if len(upstream.hosts) > 1:
        watched["outlier_detection"] = {
            "split_external_local_origin_errors": True,
            "consecutive_local_origin_failure": 3,
            "enforcing_consecutive_local_origin_failure": 100,
            "enforcing_local_origin_success_rate": _NEVER,
            # What a host answers is its API's affair.
            "enforcing_consecutive_5xx": _NEVER,
            "enforcing_consecutive_gateway_failure": _NEVER,
            "enforcing_success_rate": _NEVER,
            "interval": "1s",
            "base_ejection_time": "5s",
            "max_ejection_time": "30s",
            "max_ejection_percent": 50,
        }
    return watched


def _health_check(upstream: GatewayUpstream, path: str) -> Json:
    return {
        "timeout": "2s",
        "interval": "5s",
        "no_traffic_interval": "5s",
        "unhealthy_interval": "1s",
        "unhealthy_threshold": 2,
        "healthy_threshold": 1,
        "http_health_check": {
            "path": path,
            "expected_statuses": [{"start": 200, "end": 400}],
            "request_headers_to_add": added(merged(upstream.headers)),
        },
    }
