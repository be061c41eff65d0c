"""What is done with subscriptions, but for their keys."""

from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.areas.apim.header_checks import header_errors
from penstock.areas.apim.keys.change import KeyChanges
from penstock.areas.apim.model import ApiSubscription, ApiSubscriptionDto
from penstock.areas.apim.parameter_errors import errors_in
from penstock.areas.apim.register import Registers
from penstock.areas.apim.shown import shown_subscription, subscription_dto
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, StoredSubscription
from penstock.areas.apim.subscription_parameters import PARAMETERS, subscription_errors
from penstock.areas.apim.variable_checks import variable_errors
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors, name_key
from penstock.kernel.validation import read_leniently
from penstock.protocol.gateway import Access
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store
from penstock.store.write import Write

_LONGEST_TEXT = 1024
_MOST_APIS = 1000
_TYPES = tuple(PARAMETERS)


class SubscriptionService:
    """Subscriptions by their names. Keys are sealed beside them, and shown when they are made."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, registers: Registers, keys: KeyChanges) -> None:
        self._subscriptions = Resource(
            API_SUBSCRIPTIONS, store, changes, clock, kind="subscription", audited=shown_subscription
        )
        self._registers = registers
        self._keys = keys

    async def all(self) -> list[ApiSubscriptionDto]:
        """Newest first, keys masked."""
        return [subscription_dto(each) for each in await self._subscriptions.decoded()]

    async def get(self, name: str) -> tuple[ApiSubscription, str | None]:
        """With its ETag, the key masked. Raises NotFound."""
        found = await self._subscriptions.named(name)
        return shown_subscription(found), found.e_tag

    async def find(self, name: str) -> StoredSubscription | None:
        return await self._subscriptions.find("name", name)

    async def create(self, wanted: ApiSubscription, actor: Actor) -> ApiSubscription:
        """With its key in clear. Raises Invalid, NameTaken."""
        after, writes, key = await self.plan(wanted, None, actor)
        return await self._commit(after, writes, key)

    async def save(self, name: str, wanted: ApiSubscription, actor: Actor, if_match: str | None) -> ApiSubscription:
        """With its key in clear when there is a new one. Raises NotFound, Invalid, NameTaken, Stale."""

        async def attempt() -> ApiSubscription:
            before = await self._subscriptions.named(name)
            after, writes, key = await self.plan(wanted, before, actor, if_match)
            return await self._commit(after, writes, key)

        return await last_wins(attempt, if_match)

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        await self._subscriptions.delete(await self._subscriptions.named(name), actor, if_match)

    async def plan(
        self, wanted: ApiSubscription, before: StoredSubscription | None, actor: Actor, if_match: str | None = None
    ) -> tuple[StoredSubscription, Sequence[Write], str | None]:
        """The subscription as it will be, the writes that make it so, none when nothing differs, and a new key.

        What must hold between it and others is left to Register.check. Raises Invalid.
        """
        described, errors = _described(wanted, before)
        if before is None:
            described = msgspec.structs.replace(described, id=new_id())
        change = await self._keys.wanted(described, before, wanted.key, errors)
        if errors:
            raise Invalid(errors)
        described = change.applied(described)
        if before is None:
            return *self._subscriptions.plan_create(described, actor, change.sealed), change.shown
        if described == before and if_match is None:
            return before, (), None
        stored, writes = self._subscriptions.plan_replace(
            described, before, actor, if_match=if_match, sealed=change.sealed
        )
        return stored, writes, change.shown

    async def plan_remove(self, subscription: StoredSubscription, actor: Actor) -> Sequence[Write]:
        """The writes that remove it."""
        return self._subscriptions.plan_delete(subscription, actor, subscription.e_tag)

    async def announce(self, subscription: StoredSubscription) -> None:
        """Tells of a change, once it is committed."""
        await self._subscriptions.commit([], subscription)

    async def _commit(self, after: StoredSubscription, writes: Sequence[Write], key: str | None) -> ApiSubscription:
        if writes:
            (await self._registers.current()).check(writes)
            await self._subscriptions.commit(writes, after)
        return shown_subscription(after, key)


def _described(
    wanted: ApiSubscription, before: StoredSubscription | None
) -> tuple[StoredSubscription, list[FieldError]]:
    """The subscription without new keys, of use only when there are no errors."""
    errors = name_errors("Name", wanted.name) if before is None else []
    if before is not None and wanted.name is not None and name_key(wanted.name) != name_key(before.name):
        errors.append(FieldError("Name", f"must be {before.name}; a name cannot be changed"))
    if len(wanted.description or "") > _LONGEST_TEXT:
        errors.append(FieldError("Description", f"must have at most {_LONGEST_TEXT} characters"))
    type, parameters, found = _access(wanted)
    errors += [
        *_api_errors(wanted.apis or ()),
        *found,
        *header_errors("AdditionalHeaders", wanted.additional_headers or {}),
        *variable_errors(wanted.variables or {}),
    ]
    fields: dict[str, Any] = {
        "name": before.name if before is not None else wanted.name or "",
        "description": wanted.description,
        "apis": list(wanted.apis or ()),
        "type": type,
        "parameters": parameters,
        "additional_headers": dict(wanted.additional_headers or {}),
        "variables": dict(wanted.variables or {}),
    }
    described = msgspec.structs.replace(before, **fields) if before is not None else StoredSubscription(**fields)
    return described, errors


def _api_errors(apis: Sequence[str]) -> list[FieldError]:
    errors = []
    if not 1 <= len(apis) <= _MOST_APIS:
        errors.append(FieldError("Apis", f"must list 1 to {_MOST_APIS} APIs, as api or api/version"))
    seen: set[str] = set()
    for index, entry in enumerate(apis):
        if name_key(entry) in seen:
            errors.append(FieldError(f"Apis[{index}]", "is listed twice"))
        seen.add(name_key(entry))
    return errors


def _access(wanted: ApiSubscription) -> tuple[Access, dict[str, Any], Sequence[FieldError]]:
    given = {name: value for name, value in (wanted.parameters or {}).items() if value is not None}
    type = wanted.type or Access.API_KEY
    if type not in _TYPES:
        return Access.OIDC, given, [FieldError("Type", f"must be one of {', '.join(_TYPES)}")]
    parameters, problems = read_leniently(given, PARAMETERS[Access(type)])
    return Access(type), given, errors_in("Parameters", parameters, problems, subscription_errors)
