"""Tokens of issuers: Envoy checks them, and tells what they claim by headers that choose the subscription's route.

A route without a subscription says which issuers' tokens are looked at; what is found puts headers on the request, and
the route is looked for again. Callers cannot send these headers themselves.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from penstock.gateway.envoy.typed import Json, typed
from penstock.protocol.gateway import GatewayOidc, GatewaySubscription

OWN_HEADERS = "x-penstock-"
"""How all headers begin that callers may not send."""
FILTER = "tokens"
_JWT = "envoy.extensions.filters.http.jwt_authn.v3."
_ISSUER = "iss"

IssuerKeys = Mapping[str, str]
"""By `keys_of`: the issuer's public keys, a JWKS document."""


def keys_of(oidc: GatewayOidc) -> str:
    """Names the keys that tokens are checked with: those of two audiences are the same."""
    return f"{oidc.issuer} {oidc.jwks_uri or ''}"


def provider_of(oidc: GatewayOidc) -> str:
    """Names the tokens of an issuer for an audience."""
    return _digest(keys_of(oidc), oidc.audience)


def claim_header(oidc: GatewayOidc) -> str:
    """The header that has the claim of a token that holds; without a claim, the one that says that it holds."""
    return _header(provider_of(oidc), oidc.claim or _ISSUER)


def claim_value(oidc: GatewayOidc) -> str:
    """What the header says for the subscription."""
    return (oidc.value or "") if oidc.claim else oidc.issuer


def holding_header(oidc: GatewayOidc) -> str:
    """The header of every token that holds."""
    return _header(provider_of(oidc), _ISSUER)


def providers(subscriptions: Iterable[GatewaySubscription], keys: IssuerKeys) -> dict[str, Json]:
    """By name. Issuers whose keys are not known yet are left out: nobody's token holds."""
    claims: dict[str, dict[str, Json]] = {}
    found: dict[str, Json] = {}
    for oidc in _oidc_of(subscriptions, keys):
        name = provider_of(oidc)
        told = claims.setdefault(name, {_header(name, _ISSUER): _told(name, _ISSUER)})
        if oidc.claim:
            told[_header(name, oidc.claim)] = _told(name, oidc.claim)
        found[name] = {
            "issuer": oidc.issuer,
            "audiences": [oidc.audience],
            "local_jwks": {"inline_string": keys[keys_of(oidc)]},
            # And by no other way, such as a parameter of the query, which logs would show.
            "from_headers": [{"name": "authorization", "value_prefix": "Bearer "}],
            "forward": True,  # to the next provider; the route takes it off
            "require_expiration": True,
            "clear_route_cache": True,
            "claim_to_headers": list(told.values()),
        }
    return found


def requirement(subscriptions: Iterable[GatewaySubscription], keys: IssuerKeys) -> tuple[str, Json] | None:
    """What a version looks at, under its name; None: no tokens.

    Every provider is asked: a token may be for several audiences. None of them turns a request away, routes do.
    """
    names = sorted({provider_of(oidc) for oidc in _oidc_of(subscriptions, keys)})
    if not names:
        return None
    each = [{"requires_any": {"requirements": [{"provider_name": name}, _ANYTHING]}} for name in names]
    return _digest(*names), each[0] if len(each) == 1 else {"requires_all": {"requirements": each}}


_ANYTHING: Json = {"allow_missing_or_failed": {}}


def looking_at_tokens(requirement: str) -> Json:
    """The part of a route."""
    return {FILTER: typed(_JWT + "PerRouteConfig", requirement_name=requirement)}


def tokens_filter(providers: Mapping[str, Json], requirements: Mapping[str, Json]) -> Json:
    """Looks at nothing but what routes ask for."""
    return typed(_JWT + "JwtAuthentication", providers=dict(providers), requirement_map=dict(requirements))


def _oidc_of(subscriptions: Iterable[GatewaySubscription], keys: IssuerKeys) -> Sequence[GatewayOidc]:
    return [each.oidc for each in subscriptions if each.oidc is not None and keys_of(each.oidc) in keys]


def _told(provider: str, claim: str) -> Json:
    return {"header_name": _header(provider, claim), "claim_name": claim}


def _header(provider: str, claim: str) -> str:
    return f"{OWN_HEADERS}{provider}-{_digest(claim)}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
