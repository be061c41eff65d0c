"""The table made of what is published: pure, complete, the same for the same input."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.apim.model import ApiAuthentication
from penstock.areas.apim.register import Register
from penstock.areas.apim.stored import StoredApi, StoredSubscription, StoredVersion
from penstock.areas.apim.subscription_parameters import SubscriptionParameters
from penstock.areas.apim.table.assembly import FOREVER, Assembled, Known, assemble
from penstock.areas.apim.table.parts import PART_BYTES, TableParts
from penstock.areas.apim.table.places import Places, place_of
from penstock.areas.apim.upstream_parameters import UpstreamType
from penstock.kernel.errors import Invalid
from penstock.kernel.ids import new_id
from penstock.protocol.gateway import Access, GatewayHost, TableQuestion, table_decoder

QUOTA = {"Quota": {"Calls": 5, "Period": "day"}}
NOW = datetime(2026, 1, 31, 8, 30, tzinfo=UTC)
EARLIER = NOW - timedelta(hours=1)


def api(name: str, prefix: str | None = None) -> StoredApi:
    return StoredApi(id=new_id(), created_date=NOW, name=name, prefix=prefix or name)


def version(api: str, version: str = "v1", access: str | None = None, **fields: Any) -> StoredVersion:
    given: dict[str, Any] = {
        "id": new_id(),
        "created_date": NOW,
        "name": f"{api}/{version}",
        "api_name": api,
        "version": version,
        "is_active": True,
        "type": UpstreamType.ADDRESS,
        "parameters": {"Url": "http://127.0.0.1:9"},
        "authentication": ApiAuthentication(type=access),
    }
    return StoredVersion(**given | fields)


def subscription(name: str, *apis: str, **fields: Any) -> StoredSubscription:
    given: dict[str, Any] = {"id": new_id(), "created_date": NOW, "name": name, "type": Access.API_KEY}
    return StoredSubscription(**given | {"apis": list(apis)} | fields)


def assembled(
    *entities: StoredApi | StoredVersion | StoredSubscription,
    keys: Mapping[str, Sequence[str]] | None = None,
    **known: Any,
) -> Assembled:
    """See made_of."""
    return assemble(*made_of(*entities, keys=keys, **known), NOW)


def made_of(
    *entities: StoredApi | StoredVersion | StoredSubscription,
    keys: Mapping[str, Sequence[str]] | None = None,
    **known: Any,
) -> tuple[Register, Known]:
    """keys: by the names of subscriptions; one each unless given."""

    def of(kind: type[Any]) -> dict[UUID, Any]:
        return {each.key: each for each in entities if isinstance(each, kind)}

    register = Register(of(StoredApi), of(StoredVersion), of(StoredSubscription))
    given = keys or {}
    opened = {id: given.get(each.name, [f"key-of-{each.name}"]) for id, each in register.subscriptions.items()}
    upstreams = {id: each.settings for id, each in register.versions.items()}
    return register, Known(upstreams=upstreams, parameters=parameters_of(register), keys=opened, **known)


def parameters_of(register: Register) -> dict[UUID, SubscriptionParameters]:
    return {id: each.settings for id, each in register.subscriptions.items()}


def paths(found: Assembled, subscription: str) -> list[str]:
    return next(each.paths for each in found.table.subscriptions if each.name == subscription)


def test_versions_are_in_the_order_of_their_paths_and_those_without_an_api_are_left_out() -> None:
    found = assembled(api("b"), api("a", "x/y"), version("b"), version("A"), version("gone"), version("b", "v0"))
    assert [each.path for each in found.table.versions] == ["/b/v0", "/b/v1", "/x/y/v1"]


def test_of_two_that_came_to_share_a_path_the_older_one_is_served() -> None:
    older = version("a", created_date=EARLIER, parameters={"Url": "http://127.0.0.1:1"})
    found = assembled(api("a"), api("b", "a"), version("b"), older)
    assert [each.upstream.hosts[0].port for each in found.table.versions] == [1]


def test_a_subscription_gets_what_it_lists_and_what_takes_its_type() -> None:
    versions = [
        version("a", "any"),
        version("a", "key", "apikey"),
        version("a", "more", "basic, APIKEY"),
        version("a", "token", "oidc"),
        version("a", "open", "none"),
        version("a", "off", is_active=False),
        version("b", "v1"),
        version("b", "v2"),
    ]
    listing = [subscription("s", "A", "b/V2", "gone", "b/v9"), subscription("none")]
    found = assembled(api("a"), api("b"), *versions, *listing)
    assert paths(found, "s") == ["/a/any", "/a/key", "/a/more", "/b/v2"]
    assert paths(found, "none") == []


def test_a_key_that_is_renewed_ends_with_the_overlap_and_the_table_with_it() -> None:
    until = NOW + timedelta(minutes=5)
    renewed = subscription("s", overlap_until=until)
    found = assembled(renewed, keys={"s": ["new", "old"]})
    assert [(key.key, key.expires) for key in found.table.subscriptions[0].keys] == [("new", None), ("old", until)]
    assert found.holds_until == until
    over = assembled(subscription("s", overlap_until=NOW), keys={"s": ["new", "old"]})
    assert [key.key for key in over.table.subscriptions[0].keys] == ["new"]
    assert over.holds_until == FOREVER


def test_without_a_key_nobody_calls_but_with_a_token() -> None:
    token = {"Issuer": "https://login.example.com", "Audience": "a"}
    oidc = subscription("o", type=Access.OIDC, parameters=token)
    found = assembled(subscription("s"), oidc, keys={"s": [], "o": []})
    assert [each.name for each in found.table.subscriptions] == ["o"]


def test_what_lacks_a_variable_is_told_and_not_served_and_the_others_are() -> None:
    broken = version("a", "v1", parameters={"Url": "http://127.0.0.1", "Headers": {"X-Api-Key": "{{var:KEY}}"}})
    hidden = subscription("s", additional_headers={"X-A": "{{var:KEY}}"})
    found = assembled(api("a"), broken, version("a", "v2"), hidden, subscription("t"), variables={"other": "x"})
    assert [bool(each.upstream.hosts) for each in found.table.versions] == [False, True]
    assert [each.name for each in found.table.subscriptions] == ["t"]
    assert found.problems == {
        "a/v1": "Parameters.Headers.X-Api-Key: the variable 'KEY' does not exist",
        "s": "AdditionalHeaders.X-A: the variable 'KEY' does not exist",
    }


@pytest.mark.parametrize("value", ["two\r\nlines", "ä", "{{var:again}}"])
def test_a_value_that_no_header_takes_is_told_without_it(value: str) -> None:
    hidden = subscription("s", additional_headers={"X-A": "{{var:KEY}}"})
    found = assembled(hidden, variables={"key": value})
    assert found.table.subscriptions == []
    assert value not in found.problems["s"]


def test_values_of_its_own_win_over_the_platforms_without_case() -> None:
    mine = subscription("s", additional_headers={"X-A": "{{var:Key}}-{{ var:B }}"}, variables={"KEY": "mine"})
    found = assembled(mine, variables={"key": "theirs", "b": "b"})
    assert found.table.subscriptions[0].headers == {"X-A": "mine-b"}


def test_agents_that_are_reached_in_another_way_than_most_are_left_out() -> None:
    addresses = ["http://10.0.0.1:8500", "https://10.0.0.2", "http://10.0.0.3:8500/", "what?", "http://[::1]:8500"]
    places = Places({"/orders": ("/Orders", addresses)})
    served = version("a", type=UpstreamType.ENDPOINT, parameters={"Endpoint": "/ORDERS"})
    upstream = assembled(api("a"), served, places=places).table.versions[0].upstream
    assert [host.host for host in upstream.hosts] == ["10.0.0.1", "10.0.0.3", "::1"]
    assert (upstream.tls, upstream.path) == (False, "/Orders")


def test_what_nobody_serves_at_the_moment_has_no_hosts_and_is_told() -> None:
    endpoint = version("a", type=UpstreamType.ENDPOINT, parameters={"Endpoint": "/orders"})
    trigger = version("a", "v2", type=UpstreamType.TRIGGER, parameters={"Trigger": "hello"})
    found = assembled(api("a"), endpoint, trigger)
    assert [each.upstream.hosts for each in found.table.versions] == [[], []]
    assert found.problems == {
        "a/v1": "no online agent has the endpoint /orders ready",
        "a/v2": "there is no web trigger or notebook endpoint 'hello' any more",
    }


def test_addresses_have_the_ports_of_their_schemes() -> None:
    assert place_of("https://a.example/x/") == place_of("https://a.example:443/x")
    found = place_of("http://a.example")
    assert found is not None
    assert (found.hosts, found.path) == ([GatewayHost(host="a.example", port=80)], "")
    assert place_of("ftp://a.example") is place_of("http://[") is place_of("") is None


@given(st.permutations(range(6)))
def test_the_order_of_what_is_stored_makes_no_other_table(order: list[int]) -> None:
    entities = [api("a"), api("b"), version("a"), version("b"), subscription("s", "a"), subscription("t", "b")]
    in_order = TableParts.of(assembled(*entities).table)
    assert TableParts.of(assembled(*(entities[index] for index in order)).table) == in_order


def test_rows_of_an_earlier_table_make_the_one_that_would_be_made_without_them() -> None:
    entities = [api("a"), version("a"), subscription("s", "a"), subscription("t", "a", parameters=QUOTA)]
    register, known = made_of(*entities)
    first = assemble(register, known, NOW)
    spent = replace(known, spent={"t": NOW})
    renamed = replace(known, variables={"new": "x"})
    changed = replace(register, subscriptions={**register.subscriptions, **made_of(subscription("u"))[0].subscriptions})
    keys = {id: ["one", *found] for id, found in known.keys.items()}
    for other, others_known in ((register, spent), (register, renamed), (register, replace(known, keys=keys))):
        assert assemble(other, others_known, NOW, first).table == assemble(other, others_known, NOW).table
    more = replace(known, parameters=parameters_of(changed))
    found = assemble(changed, more, NOW, first)
    assert found.table == assemble(changed, more, NOW).table
    kept = [row for id, row in found.rows.items() if first.rows.get(id) is row]
    assert len(kept) == 2


@given(st.integers(0, 5 * PART_BYTES // 2))
def test_parts_put_together_are_the_table(length: int) -> None:
    parts = TableParts("stamp", bytes(length))
    answers = [parts.answer(TableQuestion(part=number)) for number in range(parts.count)]
    assert b"".join(answer.body for answer in answers) == parts.body
    assert all(len(answer.body) <= PART_BYTES and answer.parts == parts.count for answer in answers)


def test_what_is_known_or_beyond_the_end_has_no_body() -> None:
    parts = TableParts.of(assembled(api("a"), version("a")).table)
    known = parts.answer(TableQuestion(known=parts.stamp))
    assert (known.stamp, known.parts, known.body) == (parts.stamp, 0, b"")
    beyond = parts.answer(TableQuestion(part=7))
    assert (beyond.stamp, beyond.parts, beyond.body) == (parts.stamp, 1, b"")
    with pytest.raises(Invalid):
        parts.answer(TableQuestion(part=-1))


def test_the_body_is_the_table_compressed() -> None:
    table = assembled(api("a"), version("a"), subscription("s", "a")).table
    assert table_decoder.decode(zlib.decompress(TableParts.of(table).body)) == table
