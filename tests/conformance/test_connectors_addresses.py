from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.egress.address_guard import AddressGuard, AddressRefused, is_public
from penstock.egress.guarded_http import GuardedHttp, HttpFailed, http_host
from penstock.kernel.errors import Invalid, TooLarge
from tests.http_sink import Reply, http_sink

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
REFUSED = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "168.63.129.16",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::808:808",
    "2001::1",
    "2002:7f00:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
LOOPBACK = [
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.1",
    "[::1]",
    "::1",
    "::ffff:7f00:1",
]


def guard(*answers: Sequence[str], allow_private: bool = False) -> AddressGuard:
    """With a resolver that gives the answers in turn, the last one again and again."""
    left = list(answers)

    async def resolve(host: str) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return AddressGuard(allow_private=allow_private, resolve=resolve)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_reachable(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_of_special_ranges_are_not(address: str) -> None:
    assert not is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_ipv6_form(address: IPv4Address) -> None:
    number = int(address)
    forms = [f"::ffff:{address}", IPv6Address((0x64FF9B << 96) | number), IPv6Address((0x2002 << 112) | number << 80)]
    assert {is_public(ip_address(str(form))) for form in forms} == {is_public(address)}


@pytest.mark.parametrize("host", LOOPBACK)
async def test_loopback_is_refused_however_it_is_written(host: str) -> None:
    with pytest.raises(AddressRefused, match="PENSTOCK_ALLOW_PRIVATE_ADDRESSES"):
        await guard([]).resolve(host)


async def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(AddressRefused):
        await guard(["8.8.8.8", "10.0.0.1"]).resolve("mixed.example")


async def test_private_addresses_pass_when_the_setting_allows_them() -> None:
    assert await guard(["10.0.0.1"], allow_private=True).resolve("inside.example") == ["10.0.0.1"]


async def test_every_refused_host_is_named_with_its_field() -> None:
    with pytest.raises(Invalid) as caught:
        await guard(["10.0.0.1"]).check({"url": "inside.example", "other": "127.0.0.1", "third": "8.8.8.8"})
    assert [error.field for error in caught.value.errors] == ["url", "other"]


async def test_a_name_that_means_nothing_yet_may_be_configured() -> None:
    await guard([]).check({"url": "later.example"})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://a",
        "//a",
        "http://",
        "https://:80",
        "http://user:pw@host/",
        "http://user@host/",
        "http://a:99999/",
        "a b",
    ],
)
def test_what_is_no_plain_http_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must"):
        http_host(url)


# The client


async def test_a_host_that_turns_private_between_check_and_connect_is_refused() -> None:
    changing = guard(["8.8.8.8"], ["127.0.0.1"])
    await changing.check({"url": "rebinding.example"})
    async with http_sink() as sink, GuardedHttp(changing) as client:
        with pytest.raises(AddressRefused):
            await client.request("POST", f"http://rebinding.example:{sink.port}/", timeout=5)
    assert sink.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
async def test_the_client_connects_to_no_loopback_address(host: str) -> None:
    async with http_sink() as sink, GuardedHttp(AddressGuard(allow_private=False)) as client:
        with pytest.raises(AddressRefused):
            await client.request("GET", f"http://{host}:{sink.port}/", timeout=5)
    assert sink.requests == []


async def test_redirects_are_answers_like_others() -> None:
    async with http_sink() as sink:
        sink.answer = lambda request: Reply(302, {"location": "/elsewhere"})
        async with GuardedHttp(AddressGuard(allow_private=True)) as client:
            answer = await client.request("GET", sink.url)
        assert (answer.status, answer.headers["location"], len(sink.requests)) == (302, "/elsewhere", 1)


async def test_an_answer_beyond_the_limit_is_an_error_or_cut() -> None:
    async with http_sink() as sink, GuardedHttp(AddressGuard(allow_private=True)) as client:
        sink.answer = lambda request: Reply(200, body=b"x" * 100_000)
        with pytest.raises(TooLarge, match="more than 1000 bytes"):
            await client.request("GET", sink.url, most=1000)
        assert len((await client.request("GET", sink.url, most=1000, cut=True)).body) == 1000
        assert len((await client.request("GET", sink.url, most=100_000)).body) == 100_000


async def test_silence_ends_with_the_time_out() -> None:
    async with http_sink() as sink, GuardedHttp(AddressGuard(allow_private=True)) as client:
        sink.answer = lambda request: Reply(pause=60)
        with pytest.raises(HttpFailed, match=r"did not answer within 0\.05 s"):
            await client.request("GET", sink.url, timeout=0.05)


async def test_errors_name_the_host_and_no_secret_of_the_address() -> None:
    async with GuardedHttp(AddressGuard(allow_private=True)) as client:
        with pytest.raises(HttpFailed) as caught:
            await client.request("GET", "http://127.0.0.1:1/path-secret?token=query-secret", timeout=5)
    assert "127.0.0.1" in caught.value.detail
    assert "secret" not in caught.value.detail


async def test_an_address_is_requested_as_it_is_written() -> None:
    async with http_sink() as sink, GuardedHttp(AddressGuard(allow_private=True)) as client:
        for path in ("/a%2Fb/%7e?sig=%2B+x%3D&y", "/\u00fc?q=\u00e4"):
            await client.request("GET", f"http://127.0.0.1:{sink.port}{path}")
    assert [request.path for request in sink.requests] == ["/a%2Fb/%7e?sig=%2B+x%3D&y", "/%C3%BC?q=%C3%A4"]


async def test_connections_are_kept_for_the_next_request() -> None:
    async with http_sink() as sink, GuardedHttp(AddressGuard(allow_private=True)) as client:
        for _ in range(5):
            await client.request("POST", sink.url, body=b"{}")
        assert (len(sink.requests), sink.connections) == (5, 1)
