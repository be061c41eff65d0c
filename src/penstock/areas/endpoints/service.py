"""What is done with endpoints: saved, removed, begun anew."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from penstock.areas.endpoints.configured import Configured, configured
from penstock.areas.endpoints.states import EndpointStates
from penstock.areas.endpoints.stored import ENDPOINTS, StoredEndpoint
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.kernel.wire import encode
from penstock.protocol.capability import Requirement
from penstock.protocol.status import EndpointStatusEnum2
from penstock.resource.changes import Changes
from penstock.resource.matching import requirement_errors
from penstock.resource.ports.apis import ApiCatalog, KnownApi
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store
from penstock.store.write import Write

_ROUTE = re.compile(r"(/[A-Za-z0-9~_-][A-Za-z0-9.~_-]*)+", re.ASCII)
_LONGEST_ROUTE = 200
_LONGEST = 64 * 1024
_TRIES = 10


@dataclass(frozen=True)
class Wanted:
    """An endpoint as somebody wants it. configuration: JSON, secrets in the clear, or masked where they stay."""

    name: str | None
    api_name: str | None
    api_version: str | None
    route: str | None
    configuration: str | None
    description: str | None
    requirements: Sequence[Requirement]
    id: UUID | None = None
    time_to_live: int | None = None


class EndpointService:
    """Endpoints by their names; routes are unique, too. Secrets are sealed beside the endpoint."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, secrets: Secrets, apis: ApiCatalog, states: EndpointStates
    ) -> None:
        self._apis = apis
        self._states = states
        self._store = store
        self._sealed = Sealed(ENDPOINTS, store, secrets, clock)
        self._endpoints = Resource(ENDPOINTS, store, changes, clock, kind="endpoint")

    async def all(self) -> list[StoredEndpoint]:
        """Newest first."""
        return await self._endpoints.decoded()

    async def get(self, id: UUID) -> StoredEndpoint:
        """Raises NotFound."""
        return await self._endpoints.get(id)

    async def named(self, name: str) -> StoredEndpoint:
        """Raises NotFound."""
        return await self._endpoints.named(name)

    async def find(self, name: str) -> StoredEndpoint | None:
        return await self._endpoints.find("name", name)

    async def at_route(self, route: str) -> StoredEndpoint | None:
        """Routes are compared without case."""
        return await self._endpoints.find("route", route)

    async def create(self, wanted: Wanted, actor: Actor) -> StoredEndpoint:
        """Raises Invalid, NameTaken."""
        endpoint, writes = await self.plan(wanted, None, actor)
        await self._endpoints.commit(writes, endpoint)
        return endpoint

    async def replace(self, id: UUID, wanted: Wanted, actor: Actor, if_match: str | None) -> StoredEndpoint:
        """Raises NotFound, Invalid, Stale, NameTaken."""
        endpoint, writes = await self.plan(wanted, await self.get(id), actor, if_match)
        if writes:
            await self._endpoints.commit(writes, endpoint)
        return endpoint

    async def remove(self, id: UUID, actor: Actor) -> None:
        """Raises NotFound."""
        for left in reversed(range(_TRIES)):
            endpoint = await self.get(id)
            try:
                await self._endpoints.commit(await self.plan_remove(endpoint, actor), endpoint)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            return

    async def plan(
        self, wanted: Wanted, before: StoredEndpoint | None, actor: Actor, if_match: str | None = None
    ) -> tuple[StoredEndpoint, Sequence[Write]]:
        """The endpoint as it will be, and the writes that make it so; none when nothing differs.

        Raises Invalid, NameTaken for a route that another endpoint has.
        """
        errors = _errors(wanted)
        try:
            use = await self._configured(wanted, before)
        except Invalid as error:
            raise Invalid([*errors, *error.errors]) from None
        if errors:
            raise Invalid(errors)
        await self._check_route(wanted.route or "", before)
        endpoint = _described(wanted, use, before)
        if before is None:
            # The id must be known before the secrets can be sealed for it.
            endpoint = msgspec.structs.replace(endpoint, id=wanted.id or new_id())
            return self._endpoints.plan_create(endpoint, actor, self._seal(endpoint, use))
        same_secrets = use.secrets == await self._secrets(before)
        if endpoint == before and same_secrets and if_match is None:
            return before, ()
        begins_anew = not same_secrets or _differs(endpoint, before)
        changed = msgspec.structs.replace(endpoint, stamp=new_id().hex) if begins_anew else endpoint
        return self._endpoints.plan_replace(changed, before, actor, if_match=if_match, sealed=self._seal(before, use))

    async def plan_remove(self, endpoint: StoredEndpoint, actor: Actor) -> Sequence[Write]:
        """The writes that remove it."""
        forgotten = await self._states.plan_remove(endpoint.key)
        return [*self._endpoints.plan_delete(endpoint, actor, endpoint.e_tag), *forgotten]

    async def announce(self, endpoint: StoredEndpoint) -> None:
        """Tells of a change, once it is committed."""
        await self._endpoints.commit([], endpoint)

    async def begin_failed_anew(self, actor: Actor) -> int:
        """Has agents initialize again what failed on any of them; answers how many endpoints that are."""
        begun = 0
        for endpoint in await self.all():
            standings = (await self._states.of_item(endpoint.key)).values()
            if any(standing.status is EndpointStatusEnum2.FAILED for standing in standings):
                await self._endpoints.change(
                    endpoint.key, lambda each: msgspec.structs.replace(each, stamp=new_id().hex), actor
                )
                begun += 1
        return begun

    async def opened(self, endpoint: StoredEndpoint, api: KnownApi) -> Configured:
        """Its configuration with the secrets. Raises SecretUnreadable."""
        return Configured(api, endpoint.configuration, await self._secrets(endpoint))

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()

    async def _configured(self, wanted: Wanted, before: StoredEndpoint | None) -> Configured:
        api = await self._api(wanted)
        known = await self._apis.find(before.api_name, before.api_version) if before is not None else None
        use = await self.opened(before, known) if before is not None and known is not None else None
        return configured(api, wanted.configuration, use, "JsonConfiguration")

    async def _api(self, wanted: Wanted) -> KnownApi:
        if not wanted.api_name:
            raise Invalid.one("ApiName", "is required")
        api = await self._apis.find(wanted.api_name, wanted.api_version)
        if api is not None:
            return api
        if await self._apis.find(wanted.api_name, None) is not None:
            raise Invalid.one("ApiVersion", f"the API '{wanted.api_name}' has no version {wanted.api_version}")
        raise Invalid.one("ApiName", f"no package that is ready has an API '{wanted.api_name}'")

    async def _check_route(self, route: str, before: StoredEndpoint | None) -> None:
        other = await self._endpoints.find("route", route)
        if other is not None and (before is None or other.key != before.key):
            raise NameTaken(f"the route {route} is taken by the endpoint '{other.name}'")

    async def _secrets(self, endpoint: StoredEndpoint) -> dict[str, str]:
        text = await self._sealed.open(endpoint.key)
        return msgspec.json.decode(text, type=dict[str, str]) if text else {}

    def _seal(self, endpoint: StoredEndpoint, use: Configured) -> bytes:
        return self._sealed.seal(endpoint.key, encode(use.secrets).decode())


def _described(wanted: Wanted, use: Configured, before: StoredEndpoint | None) -> StoredEndpoint:
    base = before or StoredEndpoint(name="", api_name="", api_version="", route="", stamp=new_id().hex)
    return msgspec.structs.replace(
        base,
        name=wanted.name or "",
        api_name=use.api.name,
        api_version=use.api.version,
        route=wanted.route or "",
        configuration=use.text,
        description=wanted.description,
        requirements=list(wanted.requirements),
        references=use.references,
        time_to_live=wanted.time_to_live,
    )


def _differs(after: StoredEndpoint, before: StoredEndpoint) -> bool:
    """Whether agents have to begin anew; not for a description alone."""
    same = msgspec.structs.replace(
        before,
        description=after.description,
        requirements=after.requirements,
        time_to_live=after.time_to_live,
    )
    return after != same


def _errors(wanted: Wanted) -> list[FieldError]:
    errors = name_errors("Name", wanted.name)
    route = wanted.route or ""
    if not _ROUTE.fullmatch(route) or len(route) > _LONGEST_ROUTE:
        errors.append(
            FieldError(
                "Route",
                f"must be a path like '/orders' or '/v1/orders', of letters, digits, '.', '_', '~' and '-', "
                f"with at most {_LONGEST_ROUTE} characters",
            )
        )
    if len(wanted.configuration or "") > _LONGEST:
        errors.append(FieldError("JsonConfiguration", f"must have at most {_LONGEST} characters"))
    return [*errors, *requirement_errors(wanted.requirements)]
