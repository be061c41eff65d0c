"""The active versions, as their documents are to show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from penstock.areas.apim.register import Register
from penstock.areas.apim.stored import StoredSubscription, StoredVersion
from penstock.areas.apim.subscription_parameters import OidcParameters
from penstock.areas.apim.upstream_parameters import UpstreamParameters
from penstock.areas.apim.versions import accesses
from penstock.connectors.reference import names_in
from penstock.kernel.names import name_key
from penstock.protocol.gateway import Access


@dataclass(frozen=True)
class PublishedVersion:
    """path: where gateways serve it. access: what callers may show. issuers: of the tokens among it."""

    entity: StoredVersion
    path: str
    settings: UpstreamParameters
    access: Sequence[Access]
    issuers: Sequence[str]

    @property
    def api(self) -> str:
        return self.entity.api_name

    @property
    def version(self) -> str:
        return self.entity.version

    @property
    def listed(self) -> str:
        return self.entity.listed

    def is_deprecated(self, now: datetime) -> bool:
        since = self.settings.deprecated
        return since is not None and since <= now


def published_versions(register: Register) -> list[PublishedVersion]:
    """By their paths. Of two versions that came to share a path the older one is served."""
    subscribed: dict[str, list[StoredSubscription]] = {}
    for subscription in register.subscriptions.values():
        for entry in subscription.apis:
            for version in register.versions_listed(entry):
                subscribed.setdefault(name_key(version.listed), []).append(subscription)
    found: dict[str, PublishedVersion] = {}
    for version in sorted(register.versions.values(), key=lambda each: (each.created_date, each.key)):
        path = register.path_of(version) if version.is_active else None
        if path is not None:
            shown = _published(version, path, subscribed.get(name_key(version.listed), []))
            found.setdefault(name_key(path), shown)
    return [found[key] for key in sorted(found)]


def _published(version: StoredVersion, path: str, subscriptions: Sequence[StoredSubscription]) -> PublishedVersion:
    access = accesses(version.authentication) or sorted({each.type for each in subscriptions})
    issuers = sorted(set(_issuers(subscriptions)))
    return PublishedVersion(version, path, version.settings, access, issuers)


def _issuers(subscriptions: Sequence[StoredSubscription]) -> Iterator[str]:
    for subscription in subscriptions:
        settings = subscription.settings if subscription.type is Access.OIDC else None
        if isinstance(settings, OidcParameters) and not names_in(settings.issuer):
            yield settings.issuer
