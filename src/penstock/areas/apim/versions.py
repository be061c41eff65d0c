"""What is done with versions of APIs."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec

from penstock.areas.apim.model import ApiAuthentication, ApiVersion, ConnectionSettings
from penstock.areas.apim.parameter_errors import errors_in
from penstock.areas.apim.register import Registers
from penstock.areas.apim.shown import shown_version
from penstock.areas.apim.stored import API_VERSIONS, StoredVersion, listed
from penstock.areas.apim.upstream_parameters import UPSTREAMS, UpstreamType, upstream_errors
from penstock.areas.apim.upstreams import Upstreams
from penstock.areas.apim.variable_checks import variable_errors
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.kernel.names import name_errors, name_key
from penstock.kernel.validation import read_leniently
from penstock.protocol.gateway import Access
from penstock.resource.changes import Changes
from penstock.resource.kind import Need
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store
from penstock.store.write import Write

_LONGEST_VERSION = 64
_LONGEST_TEXT = 1024
_LONGEST_TIMEOUT = timedelta(minutes=5)


class VersionService:
    """Versions by API and version."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, registers: Registers, upstreams: Upstreams
    ) -> None:
        self._versions = Resource(
            API_VERSIONS, store, changes, clock, kind="version", label="listed", audited=shown_version
        )
        self._registers = registers
        self._upstreams = upstreams

    async def all(self) -> list[ApiVersion]:
        """Newest first."""
        return [shown_version(version) for version in await self._versions.decoded()]

    async def of_api(self, api_name: str) -> list[ApiVersion]:
        """Newest first. Raises NotFound for an API that does not exist."""
        register = await self._registers.current()
        if not any(name_key(api.name) == name_key(api_name) for api in register.apis.values()):
            raise NotFound.of("API", api_name)
        wanted = name_key(api_name)
        return [each for each in await self.all() if name_key(each.api_name or "") == wanted]

    async def get(self, api_name: str, version: str) -> tuple[ApiVersion, str | None]:
        """With its ETag. Raises NotFound."""
        found = await self._existing(api_name, version)
        return shown_version(found), found.e_tag

    async def find(self, name: str) -> StoredVersion | None:
        """By the name of its configuration document, which may always be `api/version`."""
        return await self._versions.find("name", name) or await self._versions.find("listed", name)

    async def find_listed(self, api_name: str, version: str) -> StoredVersion | None:
        return await self._versions.find("listed", listed(api_name, version))

    async def create(self, wanted: ApiVersion, actor: Actor) -> ApiVersion:
        """Raises Invalid, NameTaken."""
        return await self._commit(*await self.plan(wanted, None, actor))

    async def save(
        self, api_name: str, version: str, wanted: ApiVersion, actor: Actor, if_match: str | None
    ) -> ApiVersion:
        """Raises NotFound, Invalid, Stale."""

        async def attempt() -> ApiVersion:
            before = await self._existing(api_name, version)
            return await self._commit(*await self.plan(wanted, before, actor, if_match=if_match))

        return await last_wins(attempt, if_match)

    async def remove(self, api_name: str, version: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, InUse, Stale."""
        before = await self._existing(api_name, version)
        writes = self._versions.plan_delete(before, actor, if_match)
        (await self._registers.current()).check(writes)
        await self._versions.commit(writes, before)

    async def plan(
        self,
        wanted: ApiVersion,
        before: StoredVersion | None,
        actor: Actor,
        *,
        name: str | None = None,
        if_match: str | None = None,
    ) -> tuple[StoredVersion, Sequence[Write]]:
        """The version as it will be, and the writes that make it so; none when nothing differs.

        name: of the configuration document that makes it. What it needs is left to `needs`, and what must hold
        between it and others to Register.check. Raises Invalid.
        """
        described, errors = _described(wanted, before, name)
        if errors:
            raise Invalid(errors)
        await self._upstreams.check(described.settings)
        if before is None:
            return self._versions.plan_create(described, actor)
        if described == before and if_match is None:
            return before, ()
        return self._versions.plan_replace(described, before, actor, if_match=if_match)

    async def needs(self, version: StoredVersion) -> Sequence[Need]:
        """What it names that does not exist."""
        return await self._upstreams.needs(version.settings)

    async def plan_remove(self, version: StoredVersion, actor: Actor) -> Sequence[Write]:
        """The writes that remove it; see `plan`."""
        return self._versions.plan_delete(version, actor, version.e_tag)

    async def announce(self, version: StoredVersion) -> None:
        """Tells of a change, once it is committed."""
        await self._versions.commit([], version)

    async def _existing(self, api_name: str, version: str) -> StoredVersion:
        found = await self.find_listed(api_name, version)
        if found is None:
            raise NotFound.of("version", listed(api_name, version))
        return found

    async def _commit(self, version: StoredVersion, writes: Sequence[Write]) -> ApiVersion:
        for need in await self.needs(version):
            raise Invalid.one("Parameters.Endpoint", f"no endpoint has the route '{need.name}'")
        (await self._registers.current()).check(writes)
        await self._versions.commit(writes, version)
        return shown_version(version)


def _described(
    wanted: ApiVersion, before: StoredVersion | None, name: str | None
) -> tuple[StoredVersion, Sequence[FieldError]]:
    """The version, of use only when there are no errors."""
    errors = [*_identity_errors(wanted, before), *variable_errors(wanted.variables or {})]
    if len(wanted.description or "") > _LONGEST_TEXT:
        errors.append(FieldError("Description", f"must have at most {_LONGEST_TEXT} characters"))
    type, parameters, found = _upstream(wanted)
    errors += [*found, *_authentication_errors(wanted.authentication), *_connection_errors(wanted.connection)]
    api_name, version = wanted.api_name or "", wanted.version or ""
    if before is not None:
        api_name, version = before.api_name, before.version
    fields: dict[str, Any] = {
        "name": before.name if before is not None else name or listed(api_name, version),
        "api_name": api_name,
        "version": version,
        "description": wanted.description,
        "is_active": wanted.is_active,
        "type": type,
        "parameters": parameters,
        "variables": dict(wanted.variables or {}),
        "authentication": wanted.authentication,
        "connection": wanted.connection or ConnectionSettings(),
    }
    described = msgspec.structs.replace(before, **fields) if before is not None else StoredVersion(**fields)
    return described, errors


def _identity_errors(wanted: ApiVersion, before: StoredVersion | None) -> list[FieldError]:
    if before is None:
        errors = name_errors("ApiName", wanted.api_name) + name_errors("Version", wanted.version, _LONGEST_VERSION)
        own = listed(wanted.api_name or "", wanted.version or "")
    else:
        errors, own = [], before.listed
        for field, given, kept in (
            ("ApiName", wanted.api_name, before.api_name),
            ("Version", wanted.version, before.version),
        ):
            if given is not None and name_key(given) != name_key(kept):
                errors.append(FieldError(field, f"must be {kept}; it cannot be changed"))
    if wanted.key is not None and name_key(wanted.key) != name_key(own):
        errors.append(FieldError("Key", f"is {own}, always; leave it out"))
    return errors


def _upstream(wanted: ApiVersion) -> tuple[UpstreamType, dict[str, Any], Sequence[FieldError]]:
    given = {name: value for name, value in (wanted.parameters or {}).items() if value is not None}
    try:
        type = UpstreamType(wanted.type or "")
    except ValueError:
        problem = FieldError("Type", f"must be one of {', '.join(UpstreamType)}")
        return UpstreamType.ADDRESS, given, [problem]
    parameters, problems = read_leniently(given, UPSTREAMS[type])
    return type, given, errors_in("Parameters", parameters, problems, upstream_errors)


def accesses(authentication: ApiAuthentication | None) -> list[Access]:
    """Who may call; nothing: any subscription. Raises ValueError."""
    given = authentication.type if authentication is not None else None
    return [Access(word.strip().lower()) for word in given.split(",")] if given else []


def _authentication_errors(authentication: ApiAuthentication | None) -> Sequence[FieldError]:
    message = f"must be none, or one or more of {', '.join(each for each in Access if each is not Access.NONE)}"
    try:
        found = accesses(authentication)
    except ValueError:
        return [FieldError("Authentication.Type", message)]
    if (Access.NONE in found and len(found) > 1) or len(set(found)) < len(found):
        return [FieldError("Authentication.Type", message)]
    if authentication is not None and authentication.parameters:
        return [FieldError("Authentication.Parameters", "must be empty: a subscription's Parameters say the rest")]
    return ()


def _connection_errors(connection: ConnectionSettings | None) -> Sequence[FieldError]:
    timeout = connection.connect_timeout if connection is not None else timedelta(seconds=1)
    if timedelta(milliseconds=1) <= timeout <= _LONGEST_TIMEOUT:
        return ()
    return [FieldError("Connection.ConnectTimeout", "must be more than 0 and at most 5 minutes")]
