"""What the table is made of, gathered: only what changed is read anew."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit
from uuid import UUID

import structlog

from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.register import Register, Registers
from penstock.areas.apim.stored import StoredSubscription, StoredVersion
from penstock.areas.apim.subscription_parameters import Quota, SubscriptionParameters
from penstock.areas.apim.table.assembly import Known
from penstock.areas.apim.table.parsed import Parsed
from penstock.areas.apim.table.places import Places
from penstock.areas.apim.table.policy import TablePolicy
from penstock.areas.apim.table.quotas import Quotas
from penstock.areas.apim.table.substitution import NotReplaceable, Substitution
from penstock.areas.apim.table.verdicts import HostVerdicts
from penstock.areas.apim.upstream_parameters import AddressParameters, TriggerParameters, UpstreamParameters
from penstock.connectors.reference import names_in
from penstock.kernel.clock import Clock
from penstock.kernel.names import name_key
from penstock.resource.ports.api_usage import USAGE_CHANGES
from penstock.resource.ports.hosted_endpoints import HostedEndpoints
from penstock.resource.ports.variables import Variables
from penstock.resource.ports.web_routes import WebRoutes
from penstock.resource.secrets import SecretUnreadable

log = structlog.get_logger(__name__)

VARIABLES = "variables"
ROUTES = frozenset(("web_triggers", "notebook_endpoints"))

Changed = Mapping[str, Collection[str]]
"""What was told of: collections, and the names of what changed in them."""


class Surroundings:
    """What other areas know and versions refer to: variables, routes, hosts."""

    def __init__(
        self,
        variables: Variables,
        endpoints: HostedEndpoints,
        routes: WebRoutes,
        verdicts: HostVerdicts,
        policy: TablePolicy,
    ) -> None:
        self._variables = variables
        self._endpoints = endpoints
        self._routes = routes
        self._verdicts = verdicts
        self._server = policy.server_address
        self._values: Mapping[str, str] = {}
        self._asked: frozenset[str] = frozenset()
        self._triggers: dict[str, str | None] = {}

    async def values(self, names: frozenset[str], *, anew: bool) -> Mapping[str, str]:
        """Values of variables, by the form that names are compared in; none of one that cannot be read."""
        if anew or names != self._asked:
            found = await self._read(names) if names else {}
            values = {name_key(name): value for name, (value, _) in found.items()}
            # The same object while nothing differs, so that nothing is made anew for it.
            self._values = self._values if values == self._values else values
            self._asked = names
        return self._values

    async def _read(self, names: frozenset[str]) -> Mapping[str, tuple[str, bool]]:
        try:
            return await self._variables.values(sorted(names))
        except SecretUnreadable as error:
            log.error("variable of a published API cannot be read", reason=error.detail)
            if len(names) == 1:
                return {}
        # One that cannot be read must not keep all others from being served.
        found: dict[str, tuple[str, bool]] = {}
        for name in sorted(names):
            found |= await self._read(frozenset((name,)))
        return found

    async def places(
        self, versions: Iterable[tuple[StoredVersion, UpstreamParameters]], values: Mapping[str, str], *, anew: bool
    ) -> Places:
        """anew: whether routes may have changed."""
        triggers: set[str] = set()
        hosts: set[str] = set()
        for version, parameters in versions:
            match parameters:
                case TriggerParameters(trigger=name):
                    triggers.add(name)
                case AddressParameters(url=url) if names_in(url):
                    hosts |= _host(url, Substitution(version.variables, values))
        return Places(
            {name_key(route): (route, addresses) for route, addresses in (await self._endpoints.ready()).items()},
            await self._routes_of(triggers, anew),
            self._server,
            await self._verdicts.refused(hosts),
        )

    async def _routes_of(self, names: Collection[str], anew: bool) -> Mapping[str, str | None]:
        kept = {} if anew else self._triggers
        self._triggers = {
            name: kept[name] if kept.get(name) is not None else await self._routes.route_of(name) for name in names
        }
        return self._triggers


class TableSource:
    """Gathers what is known."""

    def __init__(
        self, registers: Registers, keys: SealedKeys, surroundings: Surroundings, quotas: Quotas, clock: Clock
    ) -> None:
        self._registers = registers
        self._keys = keys
        self._surroundings = surroundings
        self._quotas = quotas
        self._clock = clock
        self._upstreams = Parsed[StoredVersion, UpstreamParameters](lambda version: version.settings)
        self._parameters = Parsed[StoredSubscription, SubscriptionParameters](lambda each: each.settings)
        self._version_names = Parsed(_names_of_version)
        self._subscription_names = Parsed(_names_of_subscription)
        self._opened_of: Mapping[UUID, StoredSubscription] = {}
        self._opened: Mapping[UUID, Sequence[str]] = {}
        self._gathered: tuple[Register, Known] | None = None
        self._quotas_by_name: Mapping[str, Quota] = {}

    async def gather(self, changed: Changed | None) -> tuple[Register, Known]:
        """changed: None: anything may have changed. Raises Unavailable."""
        if changed is None or self._gathered is None or changed.keys() - {USAGE_CHANGES}:
            self._gathered = await self._all(changed)
            self._quotas_by_name = _quotas_of(*self._gathered)
        register, known = self._gathered
        called = changed.get(USAGE_CHANGES, ()) if changed is not None else None
        return register, replace(known, spent=await self._quotas.spent(self._quotas_by_name, self._clock.now(), called))

    async def _all(self, changed: Changed | None) -> tuple[Register, Known]:
        """All but the quotas, which change with every call."""
        register = await self._registers.current()
        upstreams = self._upstreams.of(register.versions)
        values = await self._surroundings.values(
            frozenset().union(
                *self._version_names.of(register.versions).values(),
                *self._subscription_names.of(register.subscriptions).values(),
            ),
            anew=changed is None or VARIABLES in changed,
        )
        places = await self._surroundings.places(
            ((version, upstreams[id]) for id, version in register.versions.items() if version.is_active),
            values,
            anew=changed is None or not changed.keys().isdisjoint(ROUTES),
        )
        known = Known(
            upstreams=upstreams,
            parameters=self._parameters.of(register.subscriptions),
            keys=await self._keys_of(register.subscriptions),
            variables=values,
            places=places,
        )
        return register, known

    async def _keys_of(self, subscriptions: Mapping[UUID, StoredSubscription]) -> Mapping[UUID, Sequence[str]]:
        """Those of subscriptions that are the same objects as before are not read again."""
        before, opened = self._opened_of, self._opened
        if subscriptions is not before:
            unread = [id for id, each in subscriptions.items() if before.get(id) is not each]
            read = await self._keys.of_all(unread)
            fresh = {id: read.get(id, ()) for id in unread}
            self._opened = {id: fresh[id] if id in fresh else opened[id] for id in subscriptions}
            self._opened_of = subscriptions
        return self._opened


def _quotas_of(register: Register, known: Known) -> Mapping[str, Quota]:
    return {
        register.subscriptions[id].name: each.quota for id, each in known.parameters.items() if each.quota is not None
    }


def _host(url: str, values: Substitution) -> set[str]:
    try:
        host = urlsplit(values.text("Parameters.Url", url)).hostname
    except (NotReplaceable, ValueError):
        return set()  # told when the version is assembled
    return {host} if host else set()


def _names_of_version(version: StoredVersion) -> frozenset[str]:
    return frozenset(names_in(version.parameters)) - version.variables.keys()


def _names_of_subscription(subscription: StoredSubscription) -> frozenset[str]:
    named = names_in(subscription.parameters) | names_in(subscription.additional_headers)
    return frozenset(named) - subscription.variables.keys()
