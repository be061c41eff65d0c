"""The table made of what is published: pure, so that replicas that know the same make the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from penstock.areas.apim.model import ConnectionSettings
from penstock.areas.apim.register import Register
from penstock.areas.apim.stored import StoredSubscription, StoredVersion
from penstock.areas.apim.subscription_parameters import (
    BasicParameters,
    OidcParameters,
    RateLimit,
    SubscriptionParameters,
    is_web_address,
)
from penstock.areas.apim.table.places import Place, Places, place_of
from penstock.areas.apim.table.substitution import NotReplaceable, Substitution
from penstock.areas.apim.upstream_parameters import (
    AddressParameters,
    EndpointParameters,
    TriggerParameters,
    UpstreamParameters,
    url_problem,
)
from penstock.areas.apim.versions import accesses
from penstock.kernel.names import name_key
from penstock.protocol.gateway import (
    Access,
    GatewayConnection,
    GatewayKey,
    GatewayOidc,
    GatewayRate,
    GatewaySubscription,
    GatewayTable,
    GatewayUpstream,
    GatewayVersion,
)

FOREVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Known:
    """What a table is made of, besides the register.

    upstreams, parameters: of versions and subscriptions, read. keys: of subscriptions, the newest first. variables:
    of the platform, by the form that names are compared in. spent: subscriptions whose quota is used up, and until
    when.
    """

    upstreams: Mapping[UUID, UpstreamParameters] = field(default_factory=dict)
    parameters: Mapping[UUID, SubscriptionParameters] = field(default_factory=dict)
    keys: Mapping[UUID, Sequence[str]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    places: Places = Places()  # noqa: RUF009 - it is frozen
    spent: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True)
class Assembled:
    """problems: what is published and cannot be served as it stands, by its name, in words without secrets.

    holds_until: when it is another table though nothing else changed.
    """

    table: GatewayTable
    problems: Mapping[str, str]
    holds_until: datetime


def assemble(register: Register, known: Known, now: datetime) -> Assembled:
    """In the order of paths and names. Of two versions that came to share a path the older one is served."""
    problems: dict[str, str] = {}
    paths = _paths(register)
    versions = [_version(version, path, known, problems) for path, version in paths]
    by_version = {version.key: (path, accesses(version.authentication)) for path, version in paths}
    subscriptions = [
        made
        for subscription in sorted(register.subscriptions.values(), key=lambda each: name_key(each.name))
        if (made := _subscription(subscription, register, by_version, known, now, problems)) is not None
    ]
    ends = (key.expires for each in subscriptions for key in each.keys if key.expires is not None)
    table = GatewayTable(versions=versions, subscriptions=subscriptions)
    return Assembled(table, problems, min(ends, default=FOREVER))


def _paths(register: Register) -> Sequence[tuple[str, StoredVersion]]:
    """Active versions at their paths."""
    found: dict[str, tuple[str, StoredVersion]] = {}
    for version in sorted(register.versions.values(), key=lambda each: (each.created_date, each.key)):
        path = register.path_of(version) if version.is_active else None
        if path is not None:
            found.setdefault(name_key(path), (path, version))
    return [found[key] for key in sorted(found)]


def _version(version: StoredVersion, path: str, known: Known, problems: dict[str, str]) -> GatewayVersion:
    parameters = known.upstreams[version.key]
    try:
        upstream = _upstream(parameters, Substitution(version.variables, known.variables), known.places)
    except NotReplaceable as problem:
        problems[version.listed] = str(problem)
        upstream = GatewayUpstream(hosts=[])
    return GatewayVersion(
        api=version.api_name,
        version=version.version,
        path=path,
        upstream=upstream,
        connection=_connection(version.connection),
        access=accesses(version.authentication),
        deprecated=parameters.deprecated,
        sunset=parameters.sunset,
    )


def _upstream(parameters: UpstreamParameters, values: Substitution, places: Places) -> GatewayUpstream:
    place = _place(parameters, values, places)
    return GatewayUpstream(
        hosts=list(place.hosts),
        tls=place.tls,
        path=place.path,
        headers=values.headers("Parameters.Headers", parameters.headers),
        health_path=values.optional("Parameters.HealthPath", parameters.health_path),
        retries=parameters.retries,
        timeout_seconds=parameters.timeout.total_seconds(),
    )


def _place(parameters: UpstreamParameters, values: Substitution, places: Places) -> Place:
    match parameters:
        case AddressParameters():
            url = values.text("Parameters.Url", parameters.url)
            place = place_of(url)
            if place is None or url_problem(url) is not None:
                raise NotReplaceable("Parameters.Url: is no address once variables are replaced")
            if place.hosts[0].host in places.refused:
                raise NotReplaceable("Parameters.Url: the address may not be connected to once variables are replaced")
            return place
        case EndpointParameters():
            return places.endpoint(parameters.endpoint)
        case TriggerParameters():
            return places.trigger(parameters.trigger)
    raise TypeError(f"no place for {type(parameters).__name__}")


def _connection(settings: ConnectionSettings) -> GatewayConnection:
    return GatewayConnection(
        use_proxy=settings.use_proxy,
        allow_auto_redirect=settings.allow_auto_redirect,
        decompression=settings.automatic_decompression.value,
        use_cookies=settings.use_cookies,
        connect_timeout_seconds=settings.connect_timeout.total_seconds(),
    )


def _subscription(
    subscription: StoredSubscription,
    register: Register,
    by_version: Mapping[UUID, tuple[str, Sequence[Access]]],
    known: Known,
    now: datetime,
    problems: dict[str, str],
) -> GatewaySubscription | None:
    """None when nobody could call with it."""
    parameters = known.parameters[subscription.key]
    keys = _keys(subscription, known.keys.get(subscription.key, ()), now)
    if not keys and subscription.type is not Access.OIDC:
        return None
    values = Substitution(subscription.variables, known.variables)
    try:
        oidc = _oidc(parameters, values) if isinstance(parameters, OidcParameters) else None
        headers = values.headers("AdditionalHeaders", subscription.additional_headers)
    except NotReplaceable as problem:
        problems[subscription.name] = str(problem)
        return None
    return GatewaySubscription(
        name=subscription.name,
        type=subscription.type,
        paths=_paths_of(subscription, register, by_version),
        keys=keys,
        user_name=parameters.user_name if isinstance(parameters, BasicParameters) else None,
        oidc=oidc,
        headers=headers,
        rate=_rate(parameters.rate_limit),
        spent_until=known.spent.get(subscription.name),
    )


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


def _paths_of(
    subscription: StoredSubscription, register: Register, by_version: Mapping[UUID, tuple[str, Sequence[Access]]]
) -> list[str]:
    """Of the active versions that it lists and that take its type; what is open to all needs no subscription."""
    listed: Iterable[StoredVersion] = (
        version for entry in subscription.apis for version in register.versions_listed(entry)
    )
    served = (by_version[version.key] for version in listed if version.key in by_version)
    return sorted({path for path, access in served if not access or subscription.type in access})
