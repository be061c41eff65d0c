"""A subscription as gateways get it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from penstock.areas.apim.stored import StoredSubscription
from penstock.areas.apim.subscription_parameters import (
    BasicParameters,
    OidcParameters,
    RateLimit,
    SubscriptionParameters,
    is_web_address,
)
from penstock.areas.apim.table.substitution import NotReplaceable, Substitution
from penstock.kernel.names import name_key
from penstock.protocol.gateway import Access, GatewayKey, GatewayOidc, GatewayRate, GatewaySubscription

Served = Mapping[str, Sequence[tuple[str, Sequence[Access]]]]
"""The paths of active versions and who may call them, by what subscriptions list."""


@dataclass(frozen=True)
class SubscriptionRow:
    """What it follows from, and what gateways are told: nothing when nobody could call with it.

    problem: why it cannot be served.
    """

    subscription: StoredSubscription
    keys: Sequence[str]
    spent: datetime | None
    told: GatewaySubscription | None = None
    problem: str | None = None

    def holds(self, subscription: StoredSubscription, keys: Sequence[str], spent: datetime | None) -> bool:
        """Whether it would be made again, all else being the same. What ends by itself is made anew."""
        same = self.subscription is subscription and self.keys is keys and self.spent == spent
        return same and subscription.overlap_until is None


def subscription_row(
    subscription: StoredSubscription,
    parameters: SubscriptionParameters,
    keys: Sequence[str],
    spent: datetime | None,
    served: Served,
    variables: Mapping[str, str],
    now: datetime,
) -> SubscriptionRow:
    """keys: the newest first. spent: until when its quota is used up. variables: see Known."""
    row = SubscriptionRow(subscription, keys, spent)
    valid = _keys(subscription, keys, now)
    if not valid and subscription.type is not Access.OIDC:
        return row
    values = Substitution(subscription.variables, variables)
    try:
        oidc = _oidc(parameters, values) if isinstance(parameters, OidcParameters) else None
        headers = values.headers("AdditionalHeaders", subscription.additional_headers)
    except NotReplaceable as problem:
        return replace(row, problem=str(problem))
    told = GatewaySubscription(
        name=subscription.name,
        type=subscription.type,
        paths=_paths_of(subscription, served),
        keys=valid,
        user_name=parameters.user_name if isinstance(parameters, BasicParameters) else None,
        oidc=oidc,
        headers=headers,
        rate=_rate(parameters.rate_limit),
        spent_until=spent,
    )
    return replace(row, told=told)


def _keys(subscription: StoredSubscription, keys: Sequence[str], now: datetime) -> list[GatewayKey]:
    found = [GatewayKey(key=key) for key in keys[:1]]
    until = subscription.overlap_until
    if until is not None and until > now:
        found += [GatewayKey(key=key, expires=until) for key in keys[1:]]
    return found


def _oidc(parameters: OidcParameters, values: Substitution) -> GatewayOidc:
    oidc = GatewayOidc(
        issuer=values.text("Parameters.Issuer", parameters.issuer),
        audience=values.text("Parameters.Audience", parameters.audience),
        jwks_uri=values.optional("Parameters.JwksUri", parameters.jwks_uri),
        claim=values.optional("Parameters.Claim", parameters.claim),
        value=values.optional("Parameters.Value", parameters.value),
    )
    for name, address in (("Issuer", oidc.issuer), ("JwksUri", oidc.jwks_uri)):
        if address is not None and not is_web_address(address):
            raise NotReplaceable(f"Parameters.{name}: is no address once variables are replaced")
    return oidc


def _rate(limit: RateLimit | None) -> GatewayRate | None:
    return GatewayRate(calls=limit.calls, seconds=int(limit.period.total_seconds())) if limit is not None else None


def _paths_of(subscription: StoredSubscription, served: Served) -> list[str]:
    """Of the versions that it lists and that take its type; what is open to all needs no subscription."""
    listed = (each for entry in subscription.apis for each in served.get(name_key(entry), ()))
    return sorted({path for path, access in listed if not access or subscription.type in access})
