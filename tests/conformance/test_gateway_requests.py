"""What a real Envoy passes on to upstreams and back to callers, and what it does not."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from penstock.protocol.gateway import Access, GatewayRate
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import HttpSink, Reply, http_sink

OPEN = (Access.NONE,)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Served, HttpSink]]:
    folder = tmp_path_factory.mktemp("gateway")
    async with http_sink() as upstream, served(folder / "envoy") as gateway:
        yield gateway, upstream


@pytest.fixture(autouse=True)
def plain_answers(world: tuple[Served, HttpSink]) -> None:
    world[1].answer = lambda request: Reply()


async def raw(gateway: Served, request: str) -> str:
    """The head of the first answer to a request sent as it is."""
    port = int(gateway.gateway.address.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.encode("latin-1"))
        return (await reader.read(65536)).decode("latin-1").partition("\r\n\r\n")[0]
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("asked", "passed_on"),
    [
        (PATH, "/base"),
        (f"{PATH}/", "/base/"),
        (f"{PATH}?q=1", "/base?q=1"),
        (f"{PATH}/a/b?q=%2F..", "/base/a/b?q=%2F.."),
        (f"/{PATH}//a", "/base/a"),
        (f"{PATH}/a/../b", "/base/b"),
    ],
)
async def test_the_path_of_the_upstream_takes_the_place_of_the_versions(
    world: tuple[Served, HttpSink], asked: str, passed_on: str
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port, access=OPEN, upstream_path="/base")], [])

    assert await raw(gateway, f"GET {asked} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert upstream.requests[-1].path == passed_on


@pytest.mark.parametrize(("asked", "passed_on"), [(PATH, "/"), (f"{PATH}/a?q", "/a?q"), (f"{PATH}?q", "/?q")])
async def test_an_upstream_without_a_path_gets_what_follows_the_versions(
    world: tuple[Served, HttpSink], asked: str, passed_on: str
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port, access=OPEN)], [])

    await gateway.get(asked)

    assert upstream.requests[-1].path == passed_on


@pytest.mark.parametrize(
    "path",
    [
        f"{PATH}/../../secret/v1/x",
        f"{PATH}/%2e%2e/%2e%2e/secret/v1/x",
        f"{PATH}/..%2f..%2fsecret/v1",
        f"{PATH}/..%5c..%5csecret/v1",
        f"{PATH}/..;/..;/secret/v1",
        f"{PATH}/%2e%2e;/secret",
        f"{PATH}/..\\..\\secret\\v1",
        "/secret/v1;/x",
        "/SECRET/v1/x",
        "/secret//v1/x",
        "/%73ecret/v1/x",
        "//secret/v1/x",
    ],
)
async def test_no_way_of_writing_a_path_leads_around_the_key(world: tuple[Served, HttpSink], path: str) -> None:
    gateway, upstream = world
    opened = version(upstream.port, access=OPEN, upstream_path="/public/api")
    secret = version(upstream.port, path="/secret/v1")
    await gateway.apply([opened, secret], [subscription("acme", "k-1", paths=("/secret/v1",))])
    before = len(upstream.requests)

    head = await raw(gateway, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert head.split(" ")[1] in ("400", "401", "404")
    assert len(upstream.requests) == before


async def test_a_version_whose_name_begins_as_anothers_is_another(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port), version(upstream.port, path="/orders/v10", access=OPEN)], [])

    assert await gateway.status("/orders/v10/x") == 204
    assert await gateway.status("/orders/v1/x") == 401
    assert await gateway.status("/orders/v100/x") == 404


async def test_headers_of_version_and_subscription_reach_the_upstream_whatever_the_caller_sends(
    world: tuple[Served, HttpSink],
) -> None:
    gateway, upstream = world
    known = subscription("acme", "k-1", headers={"X-Tenant": "acme 100%", "X-Endpoint-Key": "of the subscription"})
    await gateway.apply([version(upstream.port, headers={"x-endpoint-key": "secret"})], [known])

    await gateway.get(PATH, {**KEY, "X-Tenant": "bolt", "X_Tenant": "bolt", "X-Endpoint-Key": "mine"})

    seen = upstream.requests[-1].headers
    assert (seen["x-tenant"], seen["x-endpoint-key"]) == ("acme 100%", "secret")
    assert "x_tenant" not in seen


async def test_the_upstream_learns_who_called_and_is_asked_under_its_own_name(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port, access=OPEN)], [])

    answer = await gateway.get(
        PATH, {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Host": "evil", "X-Envoy-Retry-On": "5xx"}
    )

    seen = upstream.requests[-1].headers
    assert seen["host"] == f"127.0.0.1:{upstream.port}"
    assert seen["x-forwarded-host"] == gateway.gateway.address.removeprefix("http://")
    assert seen["x-forwarded-proto"] == "http"
    assert "6.6.6.6" not in seen["x-forwarded-for"]
    assert "x-envoy-retry-on" not in seen
    assert seen["x-request-id"] == answer.headers["x-request-id"]


async def test_deprecation_and_sunset_are_told(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    dates = {"deprecated": datetime(2026, 1, 1, tzinfo=UTC), "sunset": datetime(2027, 1, 1, tzinfo=UTC)}
    await gateway.apply([version(upstream.port, access=OPEN, **dates)], [])

    answer = await gateway.get(PATH)

    assert answer.headers["deprecation"] == "@1767225600"
    assert answer.headers["sunset"] == "Fri, 01 Jan 2027 00:00:00 GMT"


async def test_cookies_pass_only_where_the_connection_uses_them(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    upstream.answer = lambda request: Reply(headers={"set-cookie": "a=b"})
    for use_cookies in (True, False):
        await gateway.apply([version(upstream.port, access=OPEN, use_cookies=use_cookies)], [])

        answer = await gateway.get(PATH, {"Cookie": "c=d"})

        assert ("cookie" in upstream.requests[-1].headers) is use_cookies
        assert ("set-cookie" in answer.headers) is use_cookies
        gateway.client.cookies.clear()


async def test_a_limit_is_one_for_all_versions_and_survives_changes(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    versions = [version(upstream.port), version(upstream.port, path="/bills/v1")]
    paths = (PATH, "/bills/v1")
    limited = subscription("limited", "k-1", paths=paths, rate=GatewayRate(calls=3, seconds=3600))
    await gateway.apply(versions, [limited, subscription("free", "k-2", paths=paths)])

    assert [await gateway.status(path, KEY) for path in (PATH, "/bills/v1")] == [204, 204]
    limited.headers = {"X-Changed": "1"}
    await gateway.apply(versions, [limited, subscription("free", "k-2", paths=paths)])

    assert await gateway.status(PATH, KEY) == 204
    refused = await gateway.get("/bills/v1", KEY)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
    assert int(refused.headers["retry-after"]) == 1200
    assert await gateway.status(PATH, {"X-API-Key": "k-2"}) == 204


async def test_a_spent_quota_answers_when_it_begins_anew(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    until = datetime(2030, 1, 1, tzinfo=UTC)
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1", spent_until=until)])
    before = len(upstream.requests)

    refused = await gateway.get(PATH, KEY)

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "Tue, 01 Jan 2030 00:00:00 GMT")
    assert refused.json()["detail"] == "The quota of the subscription is used up"
    assert await gateway.status(PATH) == 401
    assert len(upstream.requests) == before


@pytest.mark.parametrize(
    "request_head",
    [
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        "POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "GET {path} HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n",
        "GET {path} HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_two_servers_could_read_in_two_ways_is_not_passed_on(
    world: tuple[Served, HttpSink], request_head: str
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port, access=OPEN)], [])
    before = len(upstream.requests)

    head = await raw(gateway, request_head.format(path=PATH))

    assert head.split(" ")[1] in ("400", "501")
    assert len(upstream.requests) == before
