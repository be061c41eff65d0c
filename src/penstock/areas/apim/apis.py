"""What is done with APIs."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.areas.apim.model import Api, ApiDetailsDto
from penstock.areas.apim.register import Register, Registers
from penstock.areas.apim.shown import details
from penstock.areas.apim.stored import APIS, StoredApi
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors, name_key
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store
from penstock.store.write import Write

_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*", re.ASCII)
_LONGEST_PREFIX = 200
_LONGEST_TEXT = 1024
_TAKEN = ("versions",)  # addresses of lists


class ApiService:
    """APIs by their names."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, registers: Registers) -> None:
        self._apis = Resource(APIS, store, changes, clock, kind="API")
        self._registers = registers

    async def all(self) -> list[ApiDetailsDto]:
        """Newest first."""
        register = await self._registers.current()
        return [details(api, register) for api in await self._apis.decoded()]

    async def get(self, name: str) -> tuple[ApiDetailsDto, str | None]:
        """With its ETag. Raises NotFound."""
        api = await self._apis.named(name)
        return details(api, await self._registers.current()), api.e_tag

    async def find(self, name: str) -> StoredApi | None:
        return await self._apis.find("name", name)

    async def create(self, wanted: Api, actor: Actor) -> ApiDetailsDto:
        """Raises Invalid, NameTaken."""
        after, writes = self.plan(wanted, None, actor)
        return await self._commit(after, writes)

    async def save(self, name: str, wanted: Api, actor: Actor, if_match: str | None) -> ApiDetailsDto:
        """Raises NotFound, Invalid, NameTaken, Stale."""

        async def attempt() -> ApiDetailsDto:
            before = await self._apis.named(name)
            after, writes = self.plan(wanted, before, actor, if_match)
            return await self._commit(after, writes)

        return await last_wins(attempt, if_match)

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, InUse, Stale."""
        before = await self._apis.named(name)
        writes = self._apis.plan_delete(before, actor, if_match)
        (await self._registers.current()).check(writes)
        await self._apis.commit(writes, before)

    def plan(
        self, wanted: Api, before: StoredApi | None, actor: Actor, if_match: str | None = None
    ) -> tuple[StoredApi, Sequence[Write]]:
        """The API as it will be, and the writes that make it so; none when nothing differs.

        What must hold between it and others is left to Register.check. Raises Invalid.
        """
        name = before.name if before is not None else wanted.name or ""
        prefix = (wanted.prefix if wanted.prefix is not None else name).strip("/")
        if errors := _errors(wanted, before, prefix):
            raise Invalid(errors)
        described: dict[str, Any] = {"prefix": prefix, "description": wanted.description}
        if before is None:
            return self._apis.plan_create(StoredApi(name=name, **described), actor)
        after = msgspec.structs.replace(before, **described)
        if after == before and if_match is None:
            return before, ()
        return self._apis.plan_replace(after, before, actor, if_match=if_match)

    async def plan_remove(self, api: StoredApi, actor: Actor) -> Sequence[Write]:
        """The writes that remove it; see `plan`."""
        return self._apis.plan_delete(api, actor, api.e_tag)

    async def announce(self, api: StoredApi) -> None:
        """Tells of a change, once it is committed."""
        await self._apis.commit([], api)

    async def _commit(self, after: StoredApi, writes: Sequence[Write]) -> ApiDetailsDto:
        register: Register = await self._registers.current()
        register.check(writes)
        await self._apis.commit(writes, after)
        return details(after, register.after(writes))


def _errors(wanted: Api, before: StoredApi | None, prefix: str) -> Sequence[FieldError]:
    errors = [] if before is not None else name_errors("Name", wanted.name)
    if before is not None and wanted.name is not None and name_key(wanted.name) != name_key(before.name):
        errors.append(FieldError("Name", f"must be {before.name}; a name cannot be changed"))
    if name_key(wanted.name or "") in _TAKEN:
        errors.append(FieldError("Name", "is the address of a list"))
    if len(wanted.description or "") > _LONGEST_TEXT:
        errors.append(FieldError("Description", f"must have at most {_LONGEST_TEXT} characters"))
    fits = all(_SEGMENT.fullmatch(segment) for segment in prefix.split("/"))
    if not fits or len(prefix) > _LONGEST_PREFIX:
        message = (
            "must be a path like orders or shop/orders, whose segments are made of A-Z a-z 0-9 . _ ~ - and begin "
            f"with a letter or digit, with at most {_LONGEST_PREFIX} characters"
        )
        errors.append(FieldError("Prefix", message))
    return errors
