"""The table made of what is published: pure, so that replicas that know the same make the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from penstock.areas.apim.model import ConnectionSettings
from penstock.areas.apim.register import Register
from penstock.areas.apim.stored import StoredVersion
from penstock.areas.apim.subscription_parameters import SubscriptionParameters
from penstock.areas.apim.table.places import Place, Places, place_of
from penstock.areas.apim.table.subscription_row import Served, SubscriptionRow, subscription_row
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

    holds_until: when it is another table though nothing else changed. rows: of subscriptions, and what they follow
    from besides.
    """

    table: GatewayTable
    problems: Mapping[str, str]
    holds_until: datetime
    rows: Mapping[UUID, SubscriptionRow]
    basis: tuple[object, ...]


def assemble(register: Register, known: Known, now: datetime, before: Assembled | None = None) -> Assembled:
    """In the order of paths and names. Of two versions that came to share a path the older one is served.

    before: what was assembled earlier; rows that would be the same are taken from it.
    """
    problems: dict[str, str] = {}
    paths = _paths(register)
    versions = [_version(version, path, known, problems) for path, version in paths]
    basis = (register.apis, register.versions, known.variables)
    same = before is not None and all(one is other for one, other in zip(basis, before.basis, strict=True))
    rows = _rows(register, known, _served(paths), now, before.rows if same and before is not None else {})
    problems |= {row.subscription.name: row.problem for row in rows.values() if row.problem is not None}
    subscriptions = [row.told for row in rows.values() if row.told is not None]
    ends = (key.expires for each in subscriptions for key in each.keys if key.expires is not None)
    table = GatewayTable(versions=versions, subscriptions=subscriptions)
    return Assembled(table, problems, min(ends, default=FOREVER), rows, basis)


def _rows(
    register: Register, known: Known, served: Served, now: datetime, kept: Mapping[UUID, SubscriptionRow]
) -> Mapping[UUID, SubscriptionRow]:
    """In the order of names."""
    rows: dict[UUID, SubscriptionRow] = {}
    for subscription in sorted(register.subscriptions.values(), key=lambda each: name_key(each.name)):
        id = subscription.key
        keys, spent = known.keys.get(id, ()), known.spent.get(subscription.name)
        row = kept.get(id)
        if row is None or not row.holds(subscription, keys, spent):
            row = subscription_row(subscription, known.parameters[id], keys, spent, served, known.variables, now)
        rows[id] = row
    return rows


def _served(paths: Iterable[tuple[str, StoredVersion]]) -> Served:
    found: dict[str, list[tuple[str, Sequence[Access]]]] = {}
    for path, version in paths:
        access = accesses(version.authentication)
        for entry in (version.api_name, version.listed):
            found.setdefault(name_key(entry), []).append((path, access))
    return found


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
        if not upstream.hosts:
            problems[version.listed] = _lack(parameters)
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


def _lack(parameters: UpstreamParameters) -> str:
    """Why there is no host."""
    match parameters:
        case EndpointParameters(endpoint=route):
            return f"no online agent has the endpoint {route} ready"
        case TriggerParameters(trigger=name):
            return f"there is no web trigger or notebook endpoint '{name}' any more"
    return "there is no host"


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
