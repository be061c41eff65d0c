"""Rate limits: one bucket for each subscription that has one, whatever routes its calls take.

The buckets are in a filter of the listener, not in routes, so they survive every change of the routes.
"""

from collections.abc import Iterable

from penstock.gateway.envoy.typed import Json, typed
from penstock.protocol.gateway import GatewayRate, GatewaySubscription

FILTER = "limits"
METADATA = "penstock"
LIMIT, SUBSCRIPTION, RETRY_AFTER = "limit", "subscription", "retry"
_FILTER = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit"
_SWITCH = "envoy.config.route.v3.FilterConfig"
_ALWAYS = {"default_value": {"numerator": 100}}
_WITHOUT_END = {"max_tokens": 4_000_000_000, "tokens_per_fill": 4_000_000_000, "fill_interval": "1s"}
_MOST_SUBSCRIPTIONS = 100_000


def limit_class(rate: GatewayRate) -> str:
    """What all subscriptions of the same rate have in common."""
    return f"{rate.calls}/{rate.seconds}"


def limited(subscription: GatewaySubscription) -> Json:
    """The metadata of a limited subscription's routes."""
    rate = subscription.rate
    if rate is None:
        return {}
    found = {LIMIT: limit_class(rate), SUBSCRIPTION: subscription.name, RETRY_AFTER: str(_until_next(rate))}
    return {"metadata": {"filter_metadata": {METADATA: found}}}


def limiting() -> Json:
    """By filter, what switches it on for a limited subscription's route."""
    return {FILTER: typed(_SWITCH, config={})}


def ready_to_limit() -> Json:
    """By filter, what has it wait on a route from which a token may lead to a limited subscription's."""
    return {FILTER: typed(_FILTER, stat_prefix="waiting", token_bucket=_WITHOUT_END)}


def buckets(subscriptions: Iterable[GatewaySubscription]) -> dict[str, Json]:
    """By limit class: what Envoy makes a subscription's bucket from."""
    rates = {limit_class(each.rate): each.rate for each in subscriptions if each.rate is not None}
    return {name: _bucket(name, rate) for name, rate in sorted(rates.items())}


def limits_filter(buckets: dict[str, Json]) -> Json:
    """Requests whose route says nothing of a limit pass."""
    return typed(
        _FILTER,
        stat_prefix="limits",
        filter_enabled=_ALWAYS,
        filter_enforced=_ALWAYS,
        token_bucket=_WITHOUT_END,
        always_consume_default_token_bucket=False,
        rate_limits=[{"actions": [_of_route(LIMIT), _of_route(SUBSCRIPTION)]}],
        descriptors=list(buckets.values()),
        max_dynamic_descriptors=_MOST_SUBSCRIPTIONS,
        enable_x_ratelimit_headers="DRAFT_VERSION_03",
        response_headers_to_add=[
            {"header": {"key": "retry-after", "value": f"%METADATA(ROUTE:{METADATA}:{RETRY_AFTER})%"}}
        ],
    )


def _bucket(name: str, rate: GatewayRate) -> Json:
    # An entry without a value stands for every value, each with a bucket of its own.
    return {
        "entries": [{"key": LIMIT, "value": name}, {"key": SUBSCRIPTION}],
        "token_bucket": {
            "max_tokens": rate.calls,
            "tokens_per_fill": rate.calls,
            "fill_interval": f"{rate.seconds}s",
        },
    }


def _of_route(key: str) -> Json:
    found = {"metadata_key": {"key": METADATA, "path": [{"key": key}]}, "source": "ROUTE_ENTRY"}
    return {"metadata": {"descriptor_key": key, **found}}


def _until_next(rate: GatewayRate) -> int:
    """Seconds in which the bucket gets one more call, at least 1: Envoy fills it evenly."""
    return max(1, -(-rate.seconds // max(1, rate.calls)))
