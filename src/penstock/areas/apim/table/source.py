"""What the table is made of, gathered: only what changed is read anew."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.register import Register, Registers
from penstock.areas.apim.stored import StoredSubscription, StoredVersion
from penstock.areas.apim.subscription_parameters import Quota, SubscriptionParameters
from penstock.areas.apim.table.assembly import Known
from penstock.areas.apim.table.parsed import Parsed
from penstock.areas.apim.table.quotas import Quotas
from penstock.areas.apim.table.surroundings import Surroundings
from penstock.areas.apim.upstream_parameters import UpstreamParameters
from penstock.connectors.reference import names_in
from penstock.kernel.clock import Clock
from penstock.resource.ports.api_usage import USAGE_CHANGES

VARIABLES = "variables"
ROUTES = frozenset(("web_triggers", "notebook_endpoints"))

Changed = Mapping[str, Collection[str]]
"""What was told of: collections, and the names of what changed in them."""


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


def _names_of_version(version: StoredVersion) -> frozenset[str]:
    return frozenset(names_in(version.parameters)) - version.variables.keys()


def _names_of_subscription(subscription: StoredSubscription) -> frozenset[str]:
    named = names_in(subscription.parameters) | names_in(subscription.additional_headers)
    return frozenset(named) - subscription.variables.keys()
