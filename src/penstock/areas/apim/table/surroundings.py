"""What other areas know and versions refer to: variables, routes, hosts."""

from collections.abc import Collection, Iterable, Mapping
from urllib.parse import urlsplit

import structlog

from penstock.areas.apim.stored import StoredVersion
from penstock.areas.apim.table.places import Places
from penstock.areas.apim.table.policy import TablePolicy
from penstock.areas.apim.table.substitution import NotReplaceable, Substitution
from penstock.areas.apim.table.verdicts import HostVerdicts
from penstock.areas.apim.upstream_parameters import AddressParameters, TriggerParameters, UpstreamParameters
from penstock.connectors.reference import names_in
from penstock.kernel.names import name_key
from penstock.resource.ports.hosted_endpoints import HostedEndpoints
from penstock.resource.ports.variables import Variables
from penstock.resource.ports.web_routes import WebRoutes
from penstock.resource.secrets import SecretUnreadable

log = structlog.get_logger(__name__)


class Surroundings:
    """Asked anew only for what may have changed."""

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


def _host(url: str, values: Substitution) -> set[str]:
    try:
        host = urlsplit(values.text("Parameters.Url", url)).hostname
    except (NotReplaceable, ValueError):
        return set()  # told when the version is assembled
    return {host} if host else set()
