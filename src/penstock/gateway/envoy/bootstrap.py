"""What Envoy is started with: where it finds the rest, what it may take, and its own socket for us."""

from pathlib import Path

from penstock.gateway.envoy.listener import STATISTICS, Files, path_source
from penstock.gateway.envoy.typed import Json, extension

ADMIN_SOCKET = "admin.sock"
_MEBIBYTE = 1 << 20
_MONITORS = "envoy.extensions.resource_monitors."
# Statistics of each cluster would take more memory than the clusters.
_KEPT = ("cluster_manager.", "listener_manager.", "extension_config_discovery.", "server.", f"http.{STATISTICS}.")
_REFUSE_AT = 0.98
_SHRINK_AT = 0.9


def bootstrap(folder: Path, *, connections: int, memory_mebibytes: int) -> Json:
    """folder: that Envoy runs in, where only its owner may enter: whoever reaches the socket rules Envoy."""
    return {
        "node": {"id": "gateway", "cluster": "gateway"},
        "admin": {"address": {"pipe": {"path": ADMIN_SOCKET, "mode": 0o600}}},
        "dynamic_resources": {
            "lds_config": path_source(folder / Files.LISTENERS),
            "cds_config": path_source(folder / Files.CLUSTERS),
        },
        "stats_config": {"stats_matcher": {"inclusion_list": {"patterns": [{"prefix": prefix} for prefix in _KEPT]}}},
        "overload_manager": _overload(connections, memory_mebibytes * _MEBIBYTE),
    }


def _overload(connections: int, memory: int) -> Json:
    heap = "envoy.resource_monitors.fixed_heap"
    open_connections = "envoy.resource_monitors.global_downstream_max_connections"
    return {
        "refresh_interval": "0.25s",
        "resource_monitors": [
            extension(heap, _MONITORS + "fixed_heap.v3.FixedHeapConfig", max_heap_size_bytes=memory),
            extension(
                open_connections,
                _MONITORS + "downstream_connections.v3.DownstreamConnectionsConfig",
                max_active_downstream_connections=connections,
            ),
        ],
        "actions": [
            _action("envoy.overload_actions.shrink_heap", heap, _SHRINK_AT),
            _action("envoy.overload_actions.stop_accepting_requests", heap, _REFUSE_AT),
        ],
    }


def _action(name: str, monitor: str, threshold: float) -> Json:
    return {"name": name, "triggers": [{"name": monitor, "threshold": {"value": threshold}}]}
