"""All that is published, in memory: what must hold between APIs, versions and subscriptions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from penstock.areas.apim.stored import (
    API_SUBSCRIPTIONS,
    API_VERSIONS,
    APIS,
    StoredApi,
    StoredSubscription,
    StoredVersion,
)
from penstock.kernel.errors import FieldError, InUse, Invalid, NameTaken
from penstock.kernel.names import name_key
from penstock.resource.mirror import Mirror
from penstock.store.store import Store
from penstock.store.write import Delete, Insert, Replace, Write

_FIELDS = {APIS.name: "apis", API_VERSIONS.name: "versions", API_SUBSCRIPTIONS.name: "subscriptions"}
_MOST_NAMED = 3


@dataclass(frozen=True)
class Register:
    """APIs, versions and subscriptions, by their ids. Names, routes and prefixes are compared without case."""

    apis: Mapping[UUID, StoredApi]
    versions: Mapping[UUID, StoredVersion]
    subscriptions: Mapping[UUID, StoredSubscription]

    def after(self, writes: Iterable[Write]) -> "Register":
        """As it will be once the writes are committed."""
        changed: dict[str, Any] = {}
        for write in writes:
            field = _FIELDS.get(write.collection.name) if isinstance(write, Insert | Replace | Delete) else None
            if field is None or not isinstance(write, Insert | Replace | Delete):
                continue
            if field not in changed:
                changed[field] = dict(getattr(self, field))
            if isinstance(write, Delete):
                changed[field].pop(write.id, None)
            else:
                changed[field][write.id] = write.body
        return replace(self, **changed) if changed else self

    def check(self, writes: Sequence[Write], after: "Register | None" = None) -> None:
        """Checks what the writes change. after: the register that has these and others that come with them.

        Raises as the checks below.
        """
        after = after or self.after(writes)
        for write in writes:
            match write:
                case Insert(body=body) | Replace(body=body):
                    after.check_put(body)
                case Delete(collection=collection, id=id) if collection.name in _FIELDS:
                    after.check_removed(getattr(self, _FIELDS[collection.name]).get(id))

    def check_put(self, entity: object) -> None:
        """Raises Invalid for what is referred to and does not exist, NameTaken for what another one has."""
        match entity:
            case StoredApi():
                self._check_api(entity)
            case StoredVersion():
                self._check_version(entity)
            case StoredSubscription():
                self._check_subscription(entity)

    def check_removed(self, entity: object) -> None:
        """Raises InUse when something that is left needs it."""
        match entity:
            case StoredApi():
                versions = [each.version for each in self.versions_of(entity)]
                if versions:
                    raise InUse(f"the API '{entity.name}' has versions: {_named(versions)}; remove them first")
                self._check_unlisted(f"the API '{entity.name}'", name_key(entity.name))
            case StoredVersion():
                self._check_unlisted(f"the version {entity.listed}", name_key(entity.listed))

    def path_of(self, version: StoredVersion) -> str | None:
        """Where gateways serve the version; None when its API is gone."""
        api = self._api_by_name.get(name_key(version.api_name))
        return f"/{api.prefix}/{version.version}" if api is not None else None

    def versions_of(self, api: StoredApi) -> Sequence[StoredVersion]:
        return self._versions_by_api.get(name_key(api.name), ())

    def versions_listed(self, entry: str) -> Sequence[StoredVersion]:
        """The versions that an entry of a subscription's Apis stands for."""
        api, _, version = name_key(entry).partition("/")
        return [each for each in self._versions_by_api.get(api, ()) if version in ("", name_key(each.version))]

    def subscriptions_of(self, api: StoredApi) -> Sequence[StoredSubscription]:
        """Those that list the API, or a version of it."""
        keys = [name_key(api.name), *(name_key(each.listed) for each in self.versions_of(api))]
        found = {each.key: each for key in keys for each in self._listing.get(key, ())}
        return list(found.values())

    def _check_api(self, api: StoredApi) -> None:
        for other in self._apis_by_prefix.get(name_key(api.prefix), ()):
            if other.id != api.id:
                raise NameTaken(f"the prefix {api.prefix} belongs to the API '{other.name}'")
        for path in (*_above(name_key(f"/{api.prefix}")), name_key(f"/{api.prefix}")):
            if (version := self._paths.get(path)) is not None and name_key(version.api_name) != name_key(api.name):
                raise NameTaken(f"the route of the version {version.listed} is the beginning of /{api.prefix}")
        for version in self.versions_of(api):
            self._check_path(version)

    def _check_version(self, version: StoredVersion) -> None:
        if name_key(version.api_name) not in self._api_by_name:
            raise Invalid.one("ApiName", f"there is no API '{version.api_name}'")
        self._check_path(version)

    def _check_path(self, version: StoredVersion) -> None:
        path = name_key(self.path_of(version) or "")
        for above in _above(path):
            if (other := self._paths.get(above)) is not None:
                raise NameTaken(f"the route of the version {other.listed} is the beginning of {path}")
        if (below := self._branches.get(path)) is not None:
            raise NameTaken(f"the route {path} is the beginning of {below}")
        if (same := self._paths.get(path)) is not None and same.id != version.id:
            raise NameTaken(f"the route {path} belongs to the version {same.listed}")

    def _check_subscription(self, subscription: StoredSubscription) -> None:
        errors = [
            FieldError(f"Apis[{index}]", f"there is no {'version' if '/' in entry else 'API'} '{entry}'")
            for index, entry in enumerate(subscription.apis)
            if name_key(entry) not in self._entries
        ]
        if errors:
            raise Invalid(errors)
        for fingerprint in subscription.key_prints:
            if any(other.id != subscription.id for other in self._by_print.get(fingerprint, ())):
                raise NameTaken("the key is another subscription's; leave Key out to have one made")
        user_name = subscription.user_name
        for other in self._by_user.get(user_name, ()) if user_name is not None else ():
            if other.id != subscription.id:
                raise NameTaken(f"the user name {user_name} belongs to the subscription '{other.name}'")

    def _check_unlisted(self, what: str, key: str) -> None:
        names = [each.name for each in self._listing.get(key, ())]
        if names:
            raise InUse(f"{what} is listed by subscriptions: {_named(names)}; change or remove them first")

    @cached_property
    def _api_by_name(self) -> Mapping[str, StoredApi]:
        return {name_key(api.name): api for api in self.apis.values()}

    @cached_property
    def _apis_by_prefix(self) -> Mapping[str, list[StoredApi]]:
        found: dict[str, list[StoredApi]] = {}
        for api in self.apis.values():
            found.setdefault(name_key(api.prefix), []).append(api)
        return found

    @cached_property
    def _versions_by_api(self) -> Mapping[str, list[StoredVersion]]:
        found: dict[str, list[StoredVersion]] = {}
        for version in self.versions.values():
            found.setdefault(name_key(version.api_name), []).append(version)
        return found

    @cached_property
    def _entries(self) -> frozenset[str]:
        """What subscriptions can list."""
        return frozenset((*self._api_by_name, *(name_key(each.listed) for each in self.versions.values())))

    @cached_property
    def _paths(self) -> Mapping[str, StoredVersion]:
        """Versions by the paths that they are served at."""
        found: dict[str, StoredVersion] = {}
        for version in self.versions.values():
            if (path := self.path_of(version)) is not None:
                found.setdefault(name_key(path), version)
        return found

    @cached_property
    def _branches(self) -> Mapping[str, str]:
        """What prefixes begin with, by a word for the prefix; no version may be served there."""
        return {
            path: f"the prefix of the API '{api.name}'"
            for api in self.apis.values()
            for path in (*_above(name_key(f"/{api.prefix}")), name_key(f"/{api.prefix}"))
        }

    @cached_property
    def _listing(self) -> Mapping[str, list[StoredSubscription]]:
        """Subscriptions by what they list."""
        found: dict[str, list[StoredSubscription]] = {}
        for subscription in self.subscriptions.values():
            for entry in subscription.apis:
                found.setdefault(name_key(entry), []).append(subscription)
        return found

    @cached_property
    def _by_print(self) -> Mapping[str, list[StoredSubscription]]:
        found: dict[str, list[StoredSubscription]] = {}
        for subscription in self.subscriptions.values():
            for fingerprint in subscription.key_prints:
                found.setdefault(fingerprint, []).append(subscription)
        return found

    @cached_property
    def _by_user(self) -> Mapping[str, list[StoredSubscription]]:
        found: dict[str, list[StoredSubscription]] = {}
        for subscription in self.subscriptions.values():
            if (user_name := subscription.user_name) is not None:
                found.setdefault(user_name, []).append(subscription)
        return found


class Registers:
    """Reads what is stored now; only what changed since it was last read costs more than a look at ETags."""

    def __init__(self, store: Store) -> None:
        self._apis = Mirror(store, APIS, lambda api: api)
        self._versions = Mirror(store, API_VERSIONS, lambda version: version)
        self._subscriptions = Mirror(store, API_SUBSCRIPTIONS, lambda subscription: subscription)
        self._register = Register({}, {}, {})

    async def current(self) -> Register:
        """The same object as long as nothing changed."""
        apis, versions = await self._apis.current(), await self._versions.current()
        subscriptions = await self._subscriptions.current()
        before = self._register
        if apis is not before.apis or versions is not before.versions or subscriptions is not before.subscriptions:
            self._register = Register(apis, versions, subscriptions)
        return self._register


def _above(path: str) -> Iterator[str]:
    """The paths that a path is below."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
