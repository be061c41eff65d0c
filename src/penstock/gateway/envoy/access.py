"""Who may call a version, and by which headers callers show it."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from penstock.gateway.envoy.oidc import claim_header, claim_value, holding_header
from penstock.protocol.gateway import Access, GatewaySubscription, GatewayVersion

KEY_HEADER = "x-api-key"
AUTHORIZATION = "authorization"


class Shown(NamedTuple):
    """A header with just this value shows the subscription. It's not passed on."""

    header: str
    value: str


def is_open(version: GatewayVersion) -> bool:
    """Whether calls without a subscription are let in."""
    return Access.NONE in version.access


def admitted(version: GatewayVersion, subscriptions: Iterable[GatewaySubscription]) -> list[GatewaySubscription]:
    """Those of the given, all of which list the version, whose type it takes."""
    types = set(version.access) - {Access.NONE}
    return [each for each in subscriptions if not types or each.type in types]


def by_path(subscriptions: Iterable[GatewaySubscription]) -> Mapping[str, Sequence[GatewaySubscription]]:
    """By the paths of versions, those that list them."""
    found: dict[str, list[GatewaySubscription]] = {}
    for subscription in subscriptions:
        for path in dict.fromkeys(subscription.paths):
            found.setdefault(path, []).append(subscription)
    return found


def shown_by(subscription: GatewaySubscription) -> list[Shown]:
    """Every header that shows the subscription."""
    match subscription.type:
        case Access.API_KEY:
            return [
                Shown(header, before + each.key)
                for each in subscription.keys
                for header, before in ((KEY_HEADER, ""), (AUTHORIZATION, "ApiKey "))
            ]
        case Access.BASIC if subscription.user_name:
            return [Shown(AUTHORIZATION, _basic(subscription.user_name, each.key)) for each in subscription.keys]
        case Access.OIDC if subscription.oidc is not None:
            return [Shown(claim_header(subscription.oidc), claim_value(subscription.oidc))]
        case _:
            return []


def credential(header: str) -> str:
    """The header that the caller sent, of one that shows a subscription."""
    return header if header in (KEY_HEADER, AUTHORIZATION) else AUTHORIZATION


def told_by_tokens(subscriptions: Sequence[GatewaySubscription]) -> tuple[str, ...]:
    """All headers that tokens are told by, which upstreams don't see."""
    of_claims = [shown.header for each in subscriptions if each.type is Access.OIDC for shown in shown_by(each)]
    return tuple(sorted({*of_claims, *(shown.header for shown in holding(subscriptions))}))


def holding(subscriptions: Iterable[GatewaySubscription]) -> list[Shown]:
    """The headers of tokens that hold, whatever they claim."""
    shown = [Shown(holding_header(each.oidc), each.oidc.issuer) for each in subscriptions if each.oidc is not None]
    return list(dict.fromkeys(shown))


def challenges(version: GatewayVersion, subscriptions: Iterable[GatewaySubscription]) -> list[str]:
    """What WWW-Authenticate says: how a subscription can be shown."""
    types = set(version.access) - {Access.NONE} or {each.type for each in subscriptions} or {Access.API_KEY}
    realm = f'realm="{version.api}/{version.version}"'
    schemes = {Access.API_KEY: f"ApiKey {realm}", Access.BASIC: f'Basic {realm}, charset="UTF-8"'}
    schemes[Access.OIDC] = f"Bearer {realm}"
    return [text for kind, text in schemes.items() if kind in types]


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
