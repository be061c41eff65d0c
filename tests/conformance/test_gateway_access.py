"""Who gets through a real Envoy, and how callers show it."""

import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from penstock.gateway.due import at_moment
from penstock.protocol.gateway import Access, GatewayKey, GatewayTable
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import HttpSink, http_sink


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Served, HttpSink]]:
    folder = tmp_path_factory.mktemp("gateway")
    async with http_sink() as upstream, served(folder / "envoy") as gateway:
        yield gateway, upstream


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


async def test_a_key_lets_in_by_either_header(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    assert await gateway.status(PATH, KEY) == 204
    assert await gateway.status(PATH, {"Authorization": "ApiKey k-1"}) == 204


async def test_without_a_key_that_holds_nobody_is_let_in_and_is_told_what_is_asked_for(
    world: tuple[Served, HttpSink],
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])
    before = len(upstream.requests)

    for headers in ({}, {"X-API-Key": ""}, {"X-API-Key": "k-2"}, {"X-API-Key": "K-1"}, {"Authorization": "Bearer k-1"}):
        answer = await gateway.get(PATH, headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'ApiKey realm="orders/v1"'
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "unauthenticated"

    twice = await gateway.client.get(PATH, headers=[("X-API-Key", "k-1"), ("X-API-Key", "k-1")])
    assert twice.status_code == 401
    assert len(upstream.requests) == before


async def test_the_upstream_does_not_see_the_key(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    await gateway.get(PATH, KEY)
    await gateway.get(PATH, {"Authorization": "ApiKey k-1"})

    for request in upstream.requests[-2:]:
        assert "k-1" not in str(request.headers)


async def test_with_a_key_in_its_own_header_the_authorization_is_the_upstreams(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    await gateway.get(PATH, {**KEY, "Authorization": "Bearer of-a-user"})

    assert upstream.requests[-1].headers["authorization"] == "Bearer of-a-user"


async def test_a_user_and_password_let_in(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    client = subscription("acme", "pass:wörd", type=Access.BASIC, user_name="anna")
    await gateway.apply([version(upstream.port)], [client])

    assert await gateway.status(PATH, basic("anna", "pass:wörd")) == 204
    assert "authorization" not in upstream.requests[-1].headers
    refused = await gateway.get(PATH, basic("anna", "password"))
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Basic realm="orders/v1", charset="UTF-8"'


async def test_a_version_takes_only_the_types_that_it_says(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    users = subscription("users", "secret", type=Access.BASIC, user_name="anna")
    await gateway.apply([version(upstream.port, access=(Access.BASIC,))], [subscription("acme", "k-1"), users])

    assert await gateway.status(PATH, KEY) == 401
    assert await gateway.status(PATH, basic("anna", "secret")) == 204


async def test_a_version_without_types_takes_all_that_list_it(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    users = subscription("users", "secret", type=Access.BASIC, user_name="anna")
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1"), users])

    assert await gateway.status(PATH, KEY) == 204
    assert await gateway.status(PATH, basic("anna", "secret")) == 204
    refused = await gateway.get(PATH)
    assert refused.headers.get_list("www-authenticate") == [
        'ApiKey realm="orders/v1"',
        'Basic realm="orders/v1", charset="UTF-8"',
    ]


async def test_a_key_opens_what_its_subscription_lists_and_nothing_else(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    other = version(upstream.port, path="/bills/v1")
    await gateway.apply([version(upstream.port), other], [subscription("acme", "k-1")])

    assert await gateway.status(PATH, KEY) == 204
    assert await gateway.status("/bills/v1", KEY) == 401
    assert await gateway.status("/nothing/v1", KEY) == 404


async def test_an_open_version_asks_for_nothing_and_still_knows_who_shows_a_key(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    known = subscription("acme", "k-1", headers={"X-Tenant": "acme"})
    await gateway.apply([version(upstream.port, access=(Access.NONE,))], [known])

    assert await gateway.status(PATH) == 204
    assert "x-tenant" not in upstream.requests[-1].headers
    assert await gateway.status(PATH, {"X-API-Key": "wrong"}) == 204
    assert await gateway.status(PATH, KEY) == 204
    assert upstream.requests[-1].headers["x-tenant"] == "acme"


async def test_a_renewed_key_holds_beside_the_new_one_until_its_time(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    now = datetime.now(UTC)
    renewed = subscription("acme", "new")
    renewed.keys.append(GatewayKey(key="old", expires=now + timedelta(minutes=1)))
    table = GatewayTable(versions=[version(upstream.port)], subscriptions=[renewed])

    await gateway.gateway.apply(at_moment(table, now))
    assert [await gateway.status(PATH, {"X-API-Key": key}) for key in ("old", "new")] == [204, 204]

    await gateway.gateway.apply(at_moment(table, now + timedelta(minutes=1)))
    assert [await gateway.status(PATH, {"X-API-Key": key}) for key in ("old", "new")] == [401, 204]


async def test_a_key_that_was_taken_back_opens_nothing_once_the_table_is_applied(
    world: tuple[Served, HttpSink],
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])
    assert await gateway.status(PATH, KEY) == 204

    await gateway.apply([version(upstream.port)], [])

    assert await gateway.status(PATH, KEY) == 401
