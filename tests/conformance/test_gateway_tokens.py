"""Tokens of a real issuer, checked by a real Envoy with the keys that the gateway fetches."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from penstock.gateway.envoy.oidc import claim_header
from penstock.protocol.gateway import Access, GatewayOidc, GatewayRate, GatewaySubscription
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import HttpSink, Reply, Request, http_sink


class Issuer:
    """Signs tokens, and serves its discovery document and public keys."""

    def __init__(self, sink: HttpSink) -> None:
        self._sink = sink
        sink.answer = self._answer
        self.url = f"http://127.0.0.1:{sink.port}"
        self.new_key("first")

    def new_key(self, name: str) -> None:
        self._name, self._key = name, ec.generate_private_key(ec.SECP256R1())
        public = jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        secret = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "secret", "alg": "HS256"}
        self.keys: list[dict[str, Any]] = [{**public, "kid": name, "alg": "ES256"}, secret, {"kty": "EC", "kid": "bad"}]

    def token(self, **claims: Any) -> dict[str, str]:
        """The header of a token for the audience `orders`, for a minute. claims: others, or in place of these."""
        stated = {"iss": self.url, "aud": "orders", "exp": int(time.time()) + 60, **claims}
        signed = jwt.encode(
            {name: value for name, value in stated.items() if value is not None},
            self._key,
            algorithm="ES256",
            headers={"kid": self._name},
        )
        return {"Authorization": f"Bearer {signed}"}

    def _answer(self, request: Request) -> Reply:
        if request.path == "/.well-known/openid-configuration":
            return _json({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        return _json({"keys": self.keys})


def _json(value: Any) -> Reply:
    return Reply(200, {"content-type": "application/json"}, msgspec.json.encode(value))


@pytest.fixture(scope="module")
async def issuer() -> AsyncIterator[Issuer]:
    async with http_sink() as sink:
        yield Issuer(sink)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Served, HttpSink]]:
    folder = tmp_path_factory.mktemp("gateway")
    async with http_sink() as upstream, served(folder / "envoy") as gateway:
        yield gateway, upstream


def of(
    issuer: Issuer, name: str, claim: str | None = None, value: str | None = None, **oidc: Any
) -> GatewaySubscription:
    audience = oidc.pop("audience", "orders")
    tokens = GatewayOidc(issuer=issuer.url, audience=audience, claim=claim, value=value, **oidc)
    return subscription(name, type=Access.OIDC, oidc=tokens, headers={"X-Subscription": name})


async def applied(gateway: Served, upstream: HttpSink, *subscriptions: GatewaySubscription, **changes: Any) -> None:
    """Returns once the issuer's keys are known too."""
    await gateway.apply([version(upstream.port, **changes)], list(subscriptions))
    await gateway.gateway.keys_fetched()


async def test_a_token_of_the_issuer_for_the_audience_lets_in(world: tuple[Served, HttpSink], issuer: Issuer) -> None:
    gateway, upstream = world
    await applied(gateway, upstream, of(issuer, "all"))

    assert await gateway.status(PATH, issuer.token()) == 204
    seen = upstream.requests[-1].headers
    assert seen["x-subscription"] == "all"
    assert "authorization" not in seen
    assert not [name for name in seen if name.startswith("x-penstock")]


async def test_a_token_that_does_not_hold_lets_nobody_in(world: tuple[Served, HttpSink], issuer: Issuer) -> None:
    gateway, upstream = world
    await applied(gateway, upstream, of(issuer, "all"))
    forged = jwt.encode(
        {"iss": issuer.url, "aud": "orders", "exp": int(time.time()) + 60},
        b"secret-secret-secret-secret-secret",
        algorithm="HS256",
        headers={"kid": "secret"},
    )
    unsigned = jwt.encode({"iss": issuer.url, "aud": "orders", "exp": int(time.time()) + 60}, None, algorithm="none")
    good = issuer.token()["Authorization"]

    for headers in (
        issuer.token(aud="bills"),
        issuer.token(iss="http://elsewhere"),
        issuer.token(exp=int(time.time()) - 3600),
        issuer.token(exp=None),
        issuer.token(nbf=int(time.time()) + 3600),
        {"Authorization": good[:-4] + "AAAA"},
        {"Authorization": f"Bearer {forged}"},
        {"Authorization": f"Bearer {unsigned}"},
        {"Authorization": "Bearer nonsense"},
        {},
    ):
        refused = await gateway.get(PATH, headers)
        assert refused.status_code == 401, headers
        assert refused.headers["www-authenticate"] == 'Bearer realm="orders/v1"'
    assert await gateway.status(f"{PATH}?access_token={good.removeprefix('Bearer ')}") == 401


async def test_a_claim_chooses_the_subscription(world: tuple[Served, HttpSink], issuer: Issuer) -> None:
    gateway, upstream = world
    await applied(
        gateway,
        upstream,
        of(issuer, "acme", "azp", "acme"),
        of(issuer, "bolt", "azp", "bolt"),
        of(issuer, "vip", "level", "3"),
    )

    for claims, name in (({"azp": "acme"}, "acme"), ({"azp": "bolt"}, "bolt"), ({"azp": "x", "level": 3}, "vip")):
        assert await gateway.status(PATH, issuer.token(**claims)) == 204
        assert upstream.requests[-1].headers["x-subscription"] == name
    forbidden = await gateway.get(PATH, issuer.token(azp="nobody"))
    assert (forbidden.status_code, forbidden.json()["code"]) == (403, "forbidden")


async def test_two_audiences_of_one_issuer_are_two_subscriptions(
    world: tuple[Served, HttpSink], issuer: Issuer
) -> None:
    gateway, upstream = world
    await applied(gateway, upstream, of(issuer, "orders", "azp", "a"), of(issuer, "bills", audience="bills"))

    assert await gateway.status(PATH, issuer.token(aud="bills")) == 204
    assert upstream.requests[-1].headers["x-subscription"] == "bills"
    assert await gateway.status(PATH, issuer.token(aud=["orders", "bills"], azp="other")) == 204
    assert upstream.requests[-1].headers["x-subscription"] == "bills"
    assert await gateway.status(PATH, issuer.token(aud=["orders", "bills"], azp="a")) == 204
    assert upstream.requests[-1].headers["x-subscription"] == "orders"


async def test_callers_cannot_send_what_tokens_are_told_by(world: tuple[Served, HttpSink], issuer: Issuer) -> None:
    gateway, upstream = world
    acme = of(issuer, "acme", "azp", "acme")
    await applied(gateway, upstream, acme)
    assert acme.oidc is not None

    assert await gateway.status(PATH, {claim_header(acme.oidc): "acme"}) == 401
    assert await gateway.status(PATH, {**issuer.token(azp="x"), claim_header(acme.oidc).upper(): "acme"}) == 403


async def test_keys_and_tokens_go_together_on_one_version(world: tuple[Served, HttpSink], issuer: Issuer) -> None:
    gateway, upstream = world
    await applied(gateway, upstream, of(issuer, "tokens"), subscription("acme", "k-1"))

    assert await gateway.status(PATH, KEY) == 204
    assert await gateway.status(PATH, issuer.token()) == 204
    assert await gateway.status(PATH) == 401


async def test_a_limit_holds_for_tokens_and_is_not_told_to_those_who_show_none(
    world: tuple[Served, HttpSink], issuer: Issuer
) -> None:
    gateway, upstream = world
    limited = of(issuer, "limited")
    limited.rate = GatewayRate(calls=2, seconds=3600)
    await applied(gateway, upstream, limited)

    assert [await gateway.status(PATH, issuer.token()) for _ in range(3)] == [204, 204, 429]
    assert "x-ratelimit-limit" not in (await gateway.get(PATH)).headers


async def test_keys_that_an_issuer_changes_are_fetched_again(tmp_path: Path) -> None:
    async with http_sink() as sink, http_sink() as upstream, served(tmp_path / "envoy") as gateway:
        issuer = Issuer(sink)
        await applied(gateway, upstream, of(issuer, "all"))
        issuer.new_key("second")
        assert await gateway.status(PATH, issuer.token()) == 401

        await gateway.gateway.fetch_keys()

        assert await gateway.status(PATH, issuer.token()) == 204


async def test_while_an_issuer_is_away_its_last_keys_hold_over_a_restart(tmp_path: Path) -> None:
    async with http_sink() as upstream:
        async with http_sink() as sink, served(tmp_path / "envoy") as gateway:
            issuer = Issuer(sink)
            await applied(gateway, upstream, of(issuer, "all"))
        async with served(tmp_path / "envoy") as gateway:
            await applied(gateway, upstream, of(issuer, "all"))

            assert await gateway.status(PATH, issuer.token()) == 204
            assert "cannot be fetched" in (gateway.gateway.problem or "")


async def test_an_issuer_that_was_never_reached_is_named_and_holds_up_nobody_else(tmp_path: Path) -> None:
    guarded = served(tmp_path / "envoy", ALLOW_PRIVATE_ADDRESSES="false")
    async with http_sink() as sink, http_sink() as upstream, guarded as gateway:
        issuer = Issuer(sink)
        await applied(gateway, upstream, of(issuer, "tokens"), subscription("acme", "k-1"))

        assert await gateway.status(PATH, KEY) == 204
        assert await gateway.status(PATH, issuer.token()) == 401
        assert issuer.url in (gateway.gateway.problem or "")
        assert sink.requests == []
