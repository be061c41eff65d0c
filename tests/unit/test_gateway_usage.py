"""What gateways count of their access log."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.apim.usage.percentile import percentile
from penstock.gateway.logged_call import LoggedCall, RouteName, route_named
from penstock.gateway.usage_sum import merged, sums
from penstock.protocol.gateway import BUCKETS_MS, UsageEntry

AT = datetime(2026, 1, 31, 8, 30, tzinfo=UTC)

calls = st.lists(
    st.builds(
        LoggedCall,
        time=st.timedeltas(timedelta(0), timedelta(hours=3)).map(AT.__add__),
        route=st.sampled_from(["orders/v1/shop", "orders/v1/", "orders/v2/shop", "", "no route"]),
        status=st.sampled_from([200, 404, 429, 503]),
        ms=st.integers(0, 20_000),
        received=st.integers(0, 1000),
        sent=st.integers(0, 1000),
    )
)


def test_a_route_is_named_by_api_version_and_subscription() -> None:
    for name in (RouteName("orders", "v1", "shop"), RouteName("orders", "v1")):
        assert route_named(str(name)) == name
    assert [route_named(text) for text in (None, "", "-", "orders/v1", "/v1/shop")] == [None] * 5


@given(calls)
def test_each_call_to_a_version_is_in_one_sum(given_calls: list[LoggedCall]) -> None:
    counted = [call for call in given_calls if call.route and "/" in call.route]
    entries = [entry for hour in sums(given_calls) for part in hour.parts() for entry in part]
    assert sum(entry.calls for entry in entries) == len(counted)
    assert sum(sum(entry.latency) for entry in entries) == len(counted)
    assert sum(entry.milliseconds for entry in entries) == sum(call.ms for call in counted)
    assert sum(entry.sent for entry in entries) == sum(call.sent for call in counted)


@given(calls)
def test_a_sum_is_of_one_hour(given_calls: list[LoggedCall]) -> None:
    for hour in sums(given_calls):
        assert hour.since <= hour.until
        assert hour.since.replace(minute=0, second=0, microsecond=0) == hour.until.replace(
            minute=0, second=0, microsecond=0
        )


@given(calls, calls)
def test_sums_put_together_count_what_both_count(first: list[LoggedCall], second: list[LoggedCall]) -> None:
    def entries(of: list[LoggedCall]) -> list[UsageEntry]:
        return [entry for hour in sums(of) for part in hour.parts() for entry in part]

    def flat(of: list[UsageEntry]) -> dict[tuple[str, str, str | None], UsageEntry]:
        return {(entry.api, entry.version, entry.subscription): entry for entry in merged([], of)}

    assert flat(merged(entries(first), entries(second))) == flat(entries([*first, *second]))


def test_a_line_of_the_log_is_what_envoy_writes() -> None:
    line = (
        b'{"client":"127.0.0.1","flags":"-","method":"GET","ms":7,"path":"/orders/v1/x","received":0,'
        b'"route":"orders/v1/shop","sent":2,"status":200,"time":"2026-01-31T08:30:00.997Z","upstream":null}'
    )
    call = msgspec.json.decode(line, type=LoggedCall)
    assert (call.time, call.ms, call.upstream) == (AT + timedelta(milliseconds=997), 7, None)


def test_percentiles_are_within_their_bucket() -> None:
    latency = [0] * (len(BUCKETS_MS) + 1)
    assert percentile(latency, 0.5) == 0
    latency[BUCKETS_MS.index(25)] = 100
    assert percentile(latency, 0.5) == 17.5
    assert percentile(latency, 1) == 25
    latency[-1] = 1000
    assert percentile(latency, 0.99) == 10_000
