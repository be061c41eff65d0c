"""What of a gateway's table holds at a moment."""

from datetime import UTC, datetime, timedelta

from penstock.gateway.due import at_moment, next_change
from penstock.protocol.gateway import Access, GatewayKey, GatewaySubscription, GatewayTable

NOW = datetime(2026, 1, 31, 8, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def table(*keys: GatewayKey, spent_until: datetime | None = None) -> GatewayTable:
    subscription = GatewaySubscription(
        name="shop", type=Access.API_KEY, paths=["/orders/v1"], keys=list(keys), spent_until=spent_until
    )
    return GatewayTable(subscriptions=[subscription])


def test_a_table_that_says_no_times_stays_as_it_is() -> None:
    lasting = table(GatewayKey(key="new"))
    assert at_moment(lasting, NOW) == lasting
    assert next_change(lasting, NOW) is None


def test_a_key_ends_at_its_time_and_the_others_go_on() -> None:
    renewed = table(GatewayKey(key="new"), GatewayKey(key="old", expires=NOW))
    assert next_change(renewed, NOW - SECOND) == NOW
    assert at_moment(renewed, NOW - SECOND) == renewed
    assert at_moment(renewed, NOW) == table(GatewayKey(key="new"))
    assert next_change(renewed, NOW) is None


def test_a_spent_quota_begins_anew_at_its_time() -> None:
    spent = table(GatewayKey(key="new"), GatewayKey(key="old", expires=NOW + SECOND), spent_until=NOW)
    assert next_change(spent, NOW - SECOND) == NOW
    [subscription] = at_moment(spent, NOW).subscriptions
    assert subscription.spent_until is None
    assert len(subscription.keys) == 2
    assert next_change(spent, NOW) == NOW + SECOND
