import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, cast

import pytest

from penstock.bus.bus import Bus
from penstock.connectors.circuit_breaker import CircuitBreaker
from penstock.connectors.endpoint import Deliver
from penstock.connectors.endpoints.http import HttpEndpoint
from penstock.connectors.failure import DeliveryFailed, EndpointGone, EventRefused, Undeliverable
from penstock.connectors.registry import built
from penstock.connectors.standard_webhooks import signed_headers, signing_key, verify
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import Invalid, Unauthenticated
from penstock.protocol.cloudevent import CloudEvent
from tests.http_sink import HttpSink, Reply, http_sink

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
OLD = "whsec_" + base64.b64encode(b"old secret of 24 bytes...").decode()
NEW = "whsec_" + base64.b64encode(b"new secret of 24 bytes...").decode()
EVENT = CloudEvent(
    id="order 1",
    source="/shop",
    type="order.created",
    subject="50 % off \u20ac",
    time="2026-05-01T12:00:00Z",
    datacontenttype="application/json",
    extensions={"urgent": True, "count": 3},
    data={"amount": 5},
)


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


@asynccontextmanager
async def endpoint(allow_private: bool = True, **configuration: Any) -> AsyncIterator[Deliver]:
    surroundings = Surroundings("orders", cast(Bus, None), AddressGuard(allow_private=allow_private), ManualClock(NOW))
    async with built(HttpEndpoint, configuration).open(surroundings) as deliver:
        yield deliver


def problems(**configuration: Any) -> list[str]:
    with pytest.raises(Invalid) as caught:
        built(HttpEndpoint, configuration)
    return [error.field for error in caught.value.errors]


# What is sent


async def test_an_event_goes_out_whole_as_json(sink: HttpSink) -> None:
    async with endpoint(url=sink.url) as deliver:
        await deliver(EVENT)
    [request] = sink.requests
    assert (request.method, request.path) == ("POST", "/events")
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert request.event == EVENT.value()


async def test_in_binary_mode_attributes_are_headers_and_the_data_is_the_body(sink: HttpSink) -> None:
    async with endpoint(url=sink.url, mode="binary") as deliver:
        await deliver(EVENT)
        await deliver(CloudEvent(id="2", source="/", type="t", datacontenttype="image/png", data_base64="AAEC"))
        await deliver(CloudEvent(id="3", source="/", type="t"))
    first, second, third = sink.requests
    assert {name: value for name, value in first.headers.items() if name.startswith("ce-")} == {
        "ce-specversion": "1.0",
        "ce-id": "order%201",
        "ce-source": "/shop",
        "ce-type": "order.created",
        "ce-subject": "50%20%25%20off%20%E2%82%AC",
        "ce-time": "2026-05-01T12:00:00Z",
        "ce-urgent": "true",
        "ce-count": "3",
    }
    assert (first.headers["content-type"], first.event) == ("application/json", {"amount": 5})
    assert (second.headers["content-type"], second.body) == ("image/png", b"\x00\x01\x02")
    assert third.body == b""


async def test_credentials_and_further_headers_are_sent(sink: HttpSink) -> None:
    async with endpoint(
        url=sink.url, username="ada", password="p:w", headers={"X-Team": "blue"}, secretHeaders={"X-Key": "k"}
    ) as deliver:
        await deliver(EVENT)
    [request] = sink.requests
    assert request.headers["authorization"] == "Basic " + base64.b64encode(b"ada:p:w").decode()
    assert (request.headers["x-team"], request.headers["x-key"]) == ("blue", "k")


async def test_one_secret_after_the_other_verifies_while_it_is_changed(sink: HttpSink) -> None:
    for secrets in ([OLD], [NEW, OLD], [NEW]):
        async with endpoint(url=sink.url, signingSecrets=secrets) as deliver:
            await deliver(EVENT)
    before, between, after = sink.requests
    for request, accepted, refused in ((before, [OLD], [NEW]), (between, [OLD, NEW], []), (after, [NEW], [OLD])):
        for secret in accepted:
            verify(request.headers, request.body, [signing_key(secret)], NOW)
        for secret in refused:
            with pytest.raises(Unauthenticated):
                verify(request.headers, request.body, [signing_key(secret)], NOW)


async def test_every_try_of_an_event_has_one_webhook_id_and_other_events_have_others(sink: HttpSink) -> None:
    async with endpoint(url=sink.url) as deliver:
        await deliver(EVENT)
        await deliver(EVENT)
        await deliver(CloudEvent(id="2", source="/shop", type="t"))
    first, second, third = (request.headers["webhook-id"] for request in sink.requests)
    assert first == second != third


# What is answered


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_answers_of_success_are_success(sink: HttpSink, status: int) -> None:
    sink.answer = lambda request: Reply(status)
    async with endpoint(url=sink.url) as deliver:
        await deliver(EVENT)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (301, EventRefused),
        (400, EventRefused),
        (404, EventRefused),
        (408, DeliveryFailed),
        (410, EndpointGone),
        (429, DeliveryFailed),
        (500, DeliveryFailed),
        (503, DeliveryFailed),
    ],
)
async def test_other_answers_are_failures_of_their_kind(
    sink: HttpSink, status: int, error: type[DeliveryFailed]
) -> None:
    sink.answer = lambda request: Reply(status, body=b"no\n  more")
    async with endpoint(url=sink.url) as deliver:
        with pytest.raises(DeliveryFailed) as caught:
            await deliver(EVENT)
    assert type(caught.value) is error
    assert str(status) in caught.value.detail
    assert error is EndpointGone or caught.value.detail.endswith("no more")
    assert len(sink.requests) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        (format_datetime(NOW + timedelta(minutes=2), usegmt=True), 120.0),
        (format_datetime(NOW - timedelta(minutes=2), usegmt=True), 0.0),
        ("99999999999999999999", 86400.0),
        ("soon", None),
        ("", None),
    ],
)
async def test_the_time_to_wait_is_read_from_the_answer(sink: HttpSink, text: str, seconds: float | None) -> None:
    sink.answer = lambda request: Reply(503, {"retry-after": text} if text else {})
    async with endpoint(url=sink.url) as deliver:
        with pytest.raises(DeliveryFailed) as caught:
            await deliver(EVENT)
    assert caught.value.retry_after == seconds


async def test_silence_and_refused_connections_are_failures(sink: HttpSink) -> None:
    sink.answer = lambda request: Reply(pause=60)
    async with endpoint(url=sink.url, timeoutSeconds=0.05) as deliver:
        with pytest.raises(DeliveryFailed, match="did not answer"):
            await deliver(EVENT)
    async with endpoint(url="http://127.0.0.1:1/") as deliver:
        with pytest.raises(DeliveryFailed, match="cannot be reached"):
            await deliver(EVENT)


async def test_private_addresses_are_refused_on_delivery_too(sink: HttpSink) -> None:
    async with endpoint(allow_private=False, url=sink.url) as deliver:
        with pytest.raises(DeliveryFailed, match="private"):
            await deliver(EVENT)
    assert sink.requests == []


# Configuration


def test_every_bad_field_is_named() -> None:
    assert problems(
        url="gopher://x",
        password="p",
        headers={"Host": "a", "X-A": "a\nb", "ce-id": "1"},
        secretHeaders={"not a name": "v"},
        signingSecrets=["short", NEW],
    ) == [
        f"Configuration.{field}"
        for field in (
            "url",
            "username",
            "headers.Host",
            "headers.X-A",
            "headers.ce-id",
            "secretHeaders.not a name",
            "signingSecrets[0]",
        )
    ]


# Signatures


def test_a_signature_is_the_one_of_the_specification() -> None:
    headers = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        datetime.fromtimestamp(1614265330, UTC),
        b'{"test": 2432232314}',
        [signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def changed(headers: Mapping[str, str], **others: str) -> dict[str, str]:
    return {**headers, **{name.replace("_", "-"): value for name, value in others.items()}}


def test_what_was_changed_or_is_old_does_not_verify() -> None:
    key = signing_key(NEW)
    headers = signed_headers("m1", NOW, b"body", [key])
    verify(headers, b"body", [key], NOW + timedelta(minutes=4))
    verify(changed(headers, webhook_signature="v1a,x " + headers["webhook-signature"]), b"body", [key], NOW)
    for bad, body, at in (
        (headers, b"Body", NOW),
        (headers, b"body", NOW + timedelta(minutes=6)),
        (headers, b"body", NOW - timedelta(minutes=6)),
        (changed(headers, webhook_id="m2"), b"body", NOW),
        (changed(headers, webhook_timestamp="x"), b"body", NOW),
        (changed(headers, webhook_signature="v1,\u20ac"), b"body", NOW),
        ({}, b"body", NOW),
    ):
        with pytest.raises(Unauthenticated):
            verify(bad, body, [key], at)


# Circuit breaker


class Stopwatch:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def attempt(breaker: CircuitBreaker, error: DeliveryFailed | None = None) -> None:
    try:
        with breaker.attempt():
            if error is not None:
                raise error
    except DeliveryFailed:
        pass


def test_failures_in_a_row_open_the_circuit_and_pauses_double() -> None:
    watch = Stopwatch()
    breaker = CircuitBreaker(watch, failures=3, first_pause=1, longest_pause=4)
    for _ in range(3):
        assert breaker.ready_in() == 0
        attempt(breaker, DeliveryFailed())
    pauses = []
    for _ in range(4):
        pauses.append(breaker.ready_in())
        watch.time += breaker.ready_in()
        assert breaker.ready_in() == 0
        attempt(breaker, DeliveryFailed())
    assert pauses == [1, 2, 4, 4]


def test_one_success_closes_it_and_while_one_tries_the_others_wait() -> None:
    watch = Stopwatch()
    breaker = CircuitBreaker(watch, failures=1, first_pause=1, longest_pause=4)
    attempt(breaker, DeliveryFailed())
    watch.time += 1
    with breaker.attempt():
        assert breaker.ready_in() > 0
    assert not breaker.is_open
    attempt(breaker, DeliveryFailed())
    assert breaker.ready_in() == 1


@pytest.mark.parametrize("error", [EventRefused(), Undeliverable()])
def test_an_event_that_is_refused_shows_that_the_endpoint_is_there(error: DeliveryFailed) -> None:
    breaker = CircuitBreaker(Stopwatch(), failures=2)
    attempt(breaker, DeliveryFailed())
    attempt(breaker, error)
    attempt(breaker, DeliveryFailed())
    assert not breaker.is_open
