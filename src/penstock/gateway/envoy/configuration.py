"""All that Envoy is told of a table, derived from it alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from penstock.gateway.envoy import limits, oidc
from penstock.gateway.envoy.access import admitted, by_path
from penstock.gateway.envoy.clusters import clusters
from penstock.gateway.envoy.limits import buckets, limits_filter
from penstock.gateway.envoy.listener import Files
from penstock.gateway.envoy.oidc import IssuerKeys, providers, requirement, tokens_filter
from penstock.gateway.envoy.outbound import Outbound
from penstock.gateway.envoy.routes import KnownMatches, route_configuration
from penstock.gateway.envoy.typed import Json, typed
from penstock.protocol.gateway import GatewayTable

_EXTENSION = "envoy.config.core.v3.TypedExtensionConfig"


@dataclass(frozen=True)
class Configuration:
    """Parts by name, so that two configurations can hold side by side, and routes, of which there is one set."""

    clusters: Mapping[str, Json] = field(default_factory=dict)
    buckets: Mapping[str, Json] = field(default_factory=dict)
    providers: Mapping[str, Json] = field(default_factory=dict)
    requirements: Mapping[str, Json] = field(default_factory=dict)
    routes: Any = None

    def beneath(self) -> dict[str, list[Json]]:
        """By file, what routes refer to."""
        limiting = limits_filter(dict(self.buckets))
        tokens = tokens_filter(self.providers, self.requirements)
        return {
            Files.CLUSTERS: list(self.clusters.values()),
            Files.LIMITS: [typed(_EXTENSION, name=limits.FILTER, typed_config=limiting)],
            Files.TOKENS: [typed(_EXTENSION, name=oidc.FILTER, typed_config=tokens)],
        }

    def above(self) -> dict[str, list[Any]]:
        """By file, the routes."""
        return {Files.ROUTES: [self.routes]}

    def with_those_of(self, before: "Configuration") -> "Configuration":
        """Serves the routes of both."""
        return Configuration(
            {**before.clusters, **self.clusters},
            {**before.buckets, **self.buckets},
            {**before.providers, **self.providers},
            {**before.requirements, **self.requirements},
            self.routes,
        )


def configuration_of(
    table: GatewayTable, keys: IssuerKeys, outbound: Outbound, known: KnownMatches | None = None
) -> Configuration:
    """keys: of issuers, as far as they are fetched. known: of the table before, which makes this quick.

    Takes a while for large tables: for a thread.
    """
    matches = (known or KnownMatches()).of(table, keys)
    listing = by_path(table.subscriptions)
    asked = [requirement(admitted(each, listing.get(each.path, ())), keys) for each in table.versions]
    return Configuration(
        clusters(table.versions, outbound),
        buckets(table.subscriptions),
        providers(table.subscriptions, keys),
        dict(each for each in asked if each is not None),
        msgspec.Raw(msgspec.json.encode(route_configuration(matches))),
    )
