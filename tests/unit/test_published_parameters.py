"""Addresses and headers of published APIs: what is accepted can be used."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.areas.apim.header_checks import header_errors, is_sendable
from penstock.areas.apim.subscription_parameters import is_web_address
from penstock.areas.apim.table.places import place_of
from penstock.areas.apim.upstream_parameters import url_problem
from penstock.connectors.reference import names_in

ODD = st.one_of(
    st.text(),
    st.text(alphabet="htps:/@[]?#%.\\ 127aé\0\n{}var", max_size=40).map(lambda text: f"http://{text}"),
)


@given(ODD)
@example("http://[::1")
@example("http://a:port")
@example("http://℀.com")
@example("http:///path")
@example("https://a\\b")
def test_an_accepted_address_is_a_place(url: str) -> None:
    if url_problem(url) is None and not names_in(url):
        place = place_of(url)
        assert place is not None
        assert 0 < place.hosts[0].port < 65536
        assert not place.path.endswith("/")


@given(ODD)
@example("https://[")
def test_an_accepted_issuer_is_an_address(address: str) -> None:
    if is_web_address(address) and not names_in(address):
        assert place_of(address) is not None
        assert address.isascii()


@pytest.mark.parametrize(
    "url",
    ["http://a", "https://a.example:8443/x/y", "http://[::1]:80/", "http://10.0.0.1/x%20y", "http://{{var:HOST}}"],
)
def test_usual_addresses_are_accepted(url: str) -> None:
    assert url_problem(url) is None


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=20), max_size=5))
@example({"Host": "a"})
@example({"X-A": "a", "x-a": "b"})
@example({"": ""})
def test_accepted_headers_can_be_sent(headers: dict[str, str]) -> None:
    if not header_errors("Headers", headers):
        assert len({name.lower() for name in headers}) == len(headers)
        assert all(name.isascii() and name.isprintable() and " " not in name for name in headers)
        assert all(is_sendable(value) or names_in(value) for value in headers.values())


@pytest.mark.parametrize("value", ["{{var:KEY}}", "Bearer {{ var:KEY }}", "basic {{var:A}}", ""])
def test_a_secret_header_may_be_a_variable(value: str) -> None:
    assert header_errors("Headers", {"Authorization": value, "X-Api-Key": value}) == []


@pytest.mark.parametrize("value", ["abc", "Bearer abc", "{{var:KEY}}abc", "{{var:}}"])
def test_a_secret_header_may_be_nothing_else(value: str) -> None:
    fields = [error.field for error in header_errors("Headers", {"Authorization": value, "Cookie": value})]
    assert fields == ["Headers.Authorization", "Headers.Cookie"]
