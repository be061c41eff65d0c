"""Where a message goes over HTTP, and how."""

from datetime import UTC, datetime

import pytest

from penstock.flow.exchange import Exchange
from penstock.flow.http.http_request import HttpMethod, HttpTarget, UnusableAddress, shown
from penstock.flow.http.status_range import StatusRange

BASE = "http://host/base"


def message(body: object = None, **headers: str) -> Exchange:
    exchange = Exchange("id", "route", datetime.now(UTC))
    exchange.body = body
    for name, value in headers.items():
        exchange.headers[f"CamelHttp{name}"] = value
    return exchange


@pytest.mark.parametrize(
    ("headers", "url"),
    [
        ({}, "http://host/base"),
        ({"Path": "more"}, "http://host/base/more"),
        ({"Path": "/more/"}, "http://host/base/more/"),
        ({"Path": "/"}, "http://host/base/"),
        ({"Path": "a b/ü"}, "http://host/base/a%20b/%C3%BC"),
        ({"Query": "q=a b&r=1"}, "http://host/base?q=a%20b&r=1"),
        ({"Query": "q=1", "RawQuery": "q=2"}, "http://host/base?q=2"),
        ({"Uri": "http://other:81/x?y=1"}, "http://other:81/x?y=1"),
        ({"Uri": "http://other/x", "Path": "z"}, "http://other/x/z"),
    ],
)
def test_headers_change_the_address(headers: dict[str, str], url: str) -> None:
    assert HttpTarget(BASE).address(message(**headers)) == url


def test_a_bridge_keeps_its_own_address() -> None:
    target = HttpTarget(BASE, bridge=True)
    assert target.address(message(Uri="http://other/x", Path="a")) == "http://host/base/a"


def test_other_options_are_added_to_the_query() -> None:
    assert HttpTarget(f"{BASE}?a=1", [("b c", "ä&")]).address(message()) == "http://host/base?a=1&b+c=%C3%A4%26"


@pytest.mark.parametrize("uri", ["/in", "ftp://host/a", "http://", "http://host:port/", "host/a"])
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(UnusableAddress):
        HttpTarget(BASE).address(message(Uri=uri))


@pytest.mark.parametrize(
    ("target", "exchange", "method"),
    [
        (HttpTarget(BASE), message(), "GET"),
        (HttpTarget(BASE), message("x"), "POST"),
        (HttpTarget(f"{BASE}?a=1"), message("x"), "GET"),
        (HttpTarget(BASE), message("x", Query="a=1"), "GET"),
        (HttpTarget(BASE), message(Method="put"), "PUT"),
        (HttpTarget(BASE, method=HttpMethod.DELETE), message(Method="PUT"), "DELETE"),
    ],
)
def test_the_method_follows_endpoint_header_query_and_body(target: HttpTarget, exchange: Exchange, method: str) -> None:
    assert target.method_for(exchange) == method


def test_a_word_that_is_no_method_is_refused() -> None:
    with pytest.raises(UnusableAddress, match="'FETCH'"):
        HttpTarget(BASE).method_for(message(Method="FETCH"))


def test_an_address_is_shown_without_credentials_and_query() -> None:
    assert shown("http://user:secret@host:81/a?key=secret") == "http://host:81/a"


def test_ranges_of_statuses() -> None:
    statuses = StatusRange.parse("200-299, 404")
    assert [statuses.has(status) for status in (199, 200, 299, 300, 404)] == [False, True, True, False, True]
    assert str(statuses) == "200-299,404"
    with pytest.raises(ValueError, match="statuses like"):
        StatusRange.parse("ok")
