"""Whose word on the caller counts."""

import pytest

from penstock.agent.settings import read_agent_settings
from penstock.apihost.trust import TrustedProxies
from penstock.kernel.errors import Invalid

HOP = "10.1.2.3"


def test_nobodys_word_counts_unless_it_is_said_so() -> None:
    assert TrustedProxies([], "X").caller(HOP, "192.0.2.1", "https") == (HOP, "http")
    assert TrustedProxies(["10.9.0.0/16"], "X").caller(HOP, "192.0.2.1", "https") == (HOP, "http")


@pytest.mark.parametrize(
    ("forwarded", "caller"),
    [
        ("", HOP),
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.66, 192.0.2.1", "192.0.2.1"),
        ("192.0.2.66, 192.0.2.1, 10.7.7.7", "192.0.2.1"),
        ("10.1.1.1, 10.7.7.7", "10.1.1.1"),
        ("192.0.2.1, nonsense, 10.7.7.7", "nonsense"),
    ],
)
def test_the_caller_is_the_last_one_whose_word_does_not_count(forwarded: str, caller: str) -> None:
    assert TrustedProxies(["10.0.0.0/8"], "X").caller(HOP, forwarded, "http") == (caller, "http")


def test_everybodys_word_may_count() -> None:
    assert TrustedProxies(["*"], "X").caller("", "192.0.2.1", "wss") == ("192.0.2.1", "https")


def test_what_is_no_network_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        read_agent_settings({"PENSTOCK_AGENT_TRUSTED_PROXIES": "10.0.0.0/8,10.0.0.1/99"})
    assert [each.field for each in refused.value.errors] == ["PENSTOCK_AGENT_TRUSTED_PROXIES"]
