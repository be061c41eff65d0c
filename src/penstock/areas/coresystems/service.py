"""What is done with core systems: read without their secrets, saved, removed, handed to those that use them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from penstock.areas.coresystems.credentials import MASK, parted, unmasked
from penstock.areas.coresystems.model import (
    CORE_SYSTEMS,
    STORAGE,
    CoreDto,
    CoreSystemDto,
    StorageDto,
    StoredCoreSystem,
)
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.kernel.wire import encode
from penstock.protocol.core_system import CoreSystem2
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.core_systems import KnownCoreSystem
from penstock.resource.ports.storage_types import StorageTypes
from penstock.resource.resource import Resource, last_wins
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store
from penstock.store.write import Write

_TAKEN = ("core", "storages")  # addresses of lists
_LONGEST_TEXT = 1024
_MOST_VARIABLES = 200
_LONGEST_NAME = 128
_LONGEST_VALUE = 64 * 1024


class CoreSystemService:
    """Secrets among the variables are sealed beside the core system, whose stored body is masked already."""

    def __init__(
        self, store: Store, secrets: Secrets, changes: Changes, clock: Clock, types: StorageTypes | None = None
    ) -> None:
        self._systems = Resource(CORE_SYSTEMS, store, changes, clock, kind="core system")
        self._sealed = Sealed(CORE_SYSTEMS, store, secrets, clock)
        self._types = types

    async def all(self) -> list[CoreSystem2]:
        """Newest first."""
        return [system.shown() for system in await self._systems.decoded()]

    async def storages(self) -> list[StorageDto]:
        """Newest first."""
        return [
            StorageDto(name=system.name, description=system.description)
            for system in await self._systems.decoded()
            if system.is_storage
        ]

    async def cores(self) -> list[CoreDto]:
        """Those that are no storages, newest first."""
        return [
            CoreDto(
                name=system.name,
                title=system.title,
                description=system.description,
                label=system.title or system.name,
            )
            for system in await self._systems.decoded()
            if not system.is_storage
        ]

    async def read(self, name: str) -> Encoded[CoreSystemDto]:
        """Raises NotFound."""
        system = await self._systems.named(name)
        fields = msgspec.structs.asdict(system.shown()) | {"variables": encode(system.variables).decode()}
        return Encoded(encode(CoreSystemDto(**fields)), system.e_tag)

    async def find(self, name: str) -> StoredCoreSystem | None:
        return await self._systems.find("name", name)

    async def known(self, name: str) -> KnownCoreSystem | None:
        """See CoreSystems."""
        system = await self.find(name)
        if system is None:
            return None
        return KnownCoreSystem(
            id=system.key,
            name=system.name,
            e_tag=system.e_tag or "",
            title=system.title,
            description=system.description,
            category=system.category,
            type=system.type,
            is_storage=system.is_storage,
            shown=system.variables,
            variables=system.variables | await self._secrets(system),
        )

    async def save(self, wanted: CoreSystem2, actor: Actor, if_match: str | None) -> CoreSystem2:
        """Makes the core system, or replaces the one of the same name. Raises Invalid, Stale."""

        async def attempt() -> CoreSystem2:
            before = await self.find(wanted.name or "")
            if before is None and if_match:
                raise Stale
            after, writes = await self.plan_put(wanted, before, actor, if_match)
            await self._systems.commit(writes, after)
            return after.shown()

        return await last_wins(attempt, if_match)

    async def plan_put(
        self, wanted: CoreSystem2, before: StoredCoreSystem | None, actor: Actor, if_match: str | None = None
    ) -> tuple[StoredCoreSystem, Sequence[Write]]:
        """The core system as it will be, and the writes that make it so; none when nothing differs. Raises Invalid."""
        variables = {name: value for name, value in (wanted.variables or {}).items() if value is not None}
        _check(wanted, variables)
        types = self._types if _is_storage(wanted) else None
        declared = await types.secrets(wanted.type or "") if types is not None else ()
        kept: Mapping[str, Any] = await self._secrets(before) if before is not None else {}
        stored = before.variables if before is not None else {}
        same_type = before is not None and before.type == wanted.type
        variables = unmasked(variables, stored, kept, same_type=same_type)
        if types is not None and (errors := await types.errors(wanted.type or "", variables)):
            raise Invalid(errors)
        masked, secrets = parted(variables, declared)
        if before is None:
            # The id must be known before the secrets can be sealed for it.
            new = _described(StoredCoreSystem(id=new_id(), name=wanted.name or ""), wanted, masked)
            return self._systems.plan_create(new, actor, self._seal(new, secrets))
        after = _described(before, wanted, masked)
        if after == before and secrets == kept and if_match is None:
            return before, ()
        return self._systems.plan_replace(after, before, actor, if_match=if_match, sealed=self._seal(before, secrets))

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        await self._systems.delete(await self._systems.named(name), actor, if_match)

    async def plan_remove(self, system: StoredCoreSystem, actor: Actor) -> Sequence[Write]:
        return self._systems.plan_delete(system, actor, system.e_tag)

    async def announce(self, system: StoredCoreSystem) -> None:
        """Tells of a change, once it is committed."""
        await self._systems.commit([], system)

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()

    async def _secrets(self, system: StoredCoreSystem) -> dict[str, Any]:
        if MASK not in system.variables.values():
            return {}
        sealed = await self._sealed.open(system.key)
        return msgspec.json.decode(sealed, type=dict[str, Any]) if sealed else {}

    def _seal(self, system: StoredCoreSystem, secrets: Mapping[str, Any]) -> bytes:
        return self._sealed.seal(system.key, encode(secrets).decode())


def _is_storage(wanted: CoreSystem2) -> bool:
    return (wanted.category or "").casefold() == STORAGE


def _described(system: StoredCoreSystem, wanted: CoreSystem2, variables: dict[str, Any]) -> StoredCoreSystem:
    return msgspec.structs.replace(
        system,
        title=wanted.title,
        description=wanted.description,
        category=wanted.category,
        type=wanted.type,
        variables=variables,
    )


def _check(wanted: CoreSystem2, variables: Mapping[str, Any]) -> None:
    errors = name_errors("Name", wanted.name)
    if (wanted.name or "").casefold() in _TAKEN:
        errors.append(FieldError("Name", f"must not be one of {', '.join(_TAKEN)}: they are addresses of lists"))
    for field in ("title", "description", "category", "type"):
        if len(getattr(wanted, field) or "") > _LONGEST_TEXT:
            errors.append(FieldError(field.capitalize(), f"must have at most {_LONGEST_TEXT} characters"))
    if _is_storage(wanted) and not (wanted.type or "").strip():
        errors.append(FieldError("Type", "is required for a storage: which kind of storage it is"))
    if len(variables) > _MOST_VARIABLES:
        errors.append(FieldError("Variables", f"must be at most {_MOST_VARIABLES}"))
    errors += [error for name, value in variables.items() if (error := _variable_error(name, value)) is not None]
    if errors:
        raise Invalid(errors)


def _variable_error(name: str, value: Any) -> FieldError | None:
    if not name.strip() or len(name) > _LONGEST_NAME:
        return FieldError("Variables", f"must have names of 1 to {_LONGEST_NAME} characters")
    if not isinstance(value, str | int | float):
        return FieldError(f"Variables.{name}", "must be a text, a number, true or false")
    if isinstance(value, str) and (len(value) > _LONGEST_VALUE or "\0" in value):
        return FieldError(f"Variables.{name}", f"must have at most {_LONGEST_VALUE} characters and no NUL")
    return None
