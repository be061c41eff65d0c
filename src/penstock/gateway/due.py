"""What of a table holds at a moment, so that keys and quotas end in time without anybody saying so."""

from datetime import datetime

from msgspec.structs import replace

from penstock.protocol.gateway import GatewaySubscription, GatewayTable


def at_moment(table: GatewayTable, now: datetime) -> GatewayTable:
    """The table without the keys that have expired, and with the quotas that have begun anew."""
    return replace(table, subscriptions=[_at_moment(each, now) for each in table.subscriptions])


def next_change(table: GatewayTable, now: datetime) -> datetime | None:
    """When the table is next to be looked at again, by what it says itself."""
    times = [time for each in table.subscriptions for time in _times(each) if time > now]
    return min(times, default=None)


def _at_moment(subscription: GatewaySubscription, now: datetime) -> GatewaySubscription:
    if all(time > now for time in _times(subscription)):
        return subscription
    spent = subscription.spent_until
    return replace(
        subscription,
        keys=[key for key in subscription.keys if key.expires is None or key.expires > now],
        spent_until=spent if spent is not None and spent > now else None,
    )


def _times(subscription: GatewaySubscription) -> list[datetime]:
    times = [key.expires for key in subscription.keys if key.expires is not None]
    return times if subscription.spent_until is None else [*times, subscription.spent_until]
