"""The configuration kind Variable."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.variables.model import MASK, VariableDto
from penstock.areas.variables.service import VariableService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec
from penstock.resource.secrets import SecretUnreadable
from penstock.store.store import Document

LARGEST = 64 * 1024
_LONGEST_DESCRIPTION = 1024
_CHANGED = f"{MASK} (changed)"


class VariableSpec(Spec):
    """A named value that flows, transfers, web jobs and channels use as `{{var:NAME}}`."""

    value: Annotated[
        str | None,
        msgspec.Meta(
            description="Text of at most 64 KiB. When it is omitted, or the mask of a secret, the stored value stays."
        ),
    ] = None
    is_secret: Annotated[
        bool,
        msgspec.Meta(
            description="A secret is encrypted at rest and masked in every answer. A value that was public before "
            "may be in backups: make it secret together with a new value."
        ),
    ] = False
    description: Annotated[
        str | None, msgspec.Meta(description="What it is for; metadata.description stands in for it.")
    ] = None


class VariableKind(ConfigurationKind[VariableSpec]):
    """A variable. Changing `isSecret` works both ways; making a secret public needs its value in the document."""

    kind = "Variable"
    spec = VariableSpec

    def __init__(self, service: VariableService) -> None:
        self._service = service

    async def plan(self, metadata: Metadata, spec: VariableSpec, actor: Actor) -> Plan:
        errors = [*name_errors("metadata.name", metadata.name), *_value_errors(spec.value)]
        description = spec.description if spec.description is not None else metadata.description
        if len(description or "") > _LONGEST_DESCRIPTION:
            errors.append(FieldError("spec.description", f"must have at most {_LONGEST_DESCRIPTION} characters"))
        if errors:
            raise Invalid(errors)
        wanted = VariableDto(name=metadata.name, description=description, value=spec.value, is_secret=spec.is_secret)
        found = await self._service.find(metadata.name)
        return await self._plan_change(wanted, *found, actor) if found else self._plan_create(wanted, actor)

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        found = await self._service.find(metadata.name)
        if found is None:
            return Plan("keep")
        document, before = found
        return Plan(
            "remove",
            before=_shown(before, masked=before.is_secret),
            writes=self._service.plan_delete(document, before, actor),
            finish=[partial(self._service.announce, metadata.name)],
        )

    def _plan_create(self, wanted: VariableDto, actor: Actor) -> Plan:
        if wanted.value is None:
            raise Invalid.one("spec.value", "is required for a new variable")
        if wanted.value == MASK:
            raise Invalid.one("spec.value", "is the mask that stands for a secret, not a value")
        return Plan(
            "create",
            after=_shown(wanted, masked=wanted.is_secret),
            writes=self._service.plan_create(wanted, actor),
            finish=[partial(self._service.announce, wanted.name or "")],
        )

    async def _plan_change(self, wanted: VariableDto, document: Document, before: VariableDto, actor: Actor) -> Plan:
        keeps = wanted.value is None or wanted.value == MASK
        if keeps and before.is_secret and not wanted.is_secret:
            raise Invalid.one("spec.value", "is required when a secret is made public")
        stored = await self._stored_value(document, before, needed=keeps)
        if keeps:
            wanted = msgspec.structs.replace(wanted, value=stored)
        changed = wanted.value != stored
        if not changed and _attributes(wanted) == _attributes(before):
            return Plan("keep", before=_shown(before, before.is_secret), after=_shown(before, before.is_secret))
        masked = before.is_secret or wanted.is_secret
        return Plan(
            "change",
            before=_shown(before, masked),
            after=_shown(wanted, masked, changed),
            writes=self._service.plan_replace(wanted, document, before, actor, value_changed=changed),
            finish=[partial(self._service.announce, wanted.name or "")],
        )

    async def _stored_value(self, document: Document, before: VariableDto, *, needed: bool) -> str | None:
        """The present value. None for a secret that cannot be read any more, unless it is needed."""
        try:
            return await self._service.value(document.id, before)
        except SecretUnreadable:
            if needed:
                raise Invalid.one("spec.value", "is required, since the stored secret cannot be read") from None
            return None


def _value_errors(value: str | None) -> Sequence[FieldError]:
    if value is None:
        return []
    if len(value.encode()) > LARGEST:
        return [FieldError("spec.value", f"must have at most {LARGEST} bytes")]
    if "\0" in value:
        return [FieldError("spec.value", "must not contain NUL")]
    return []


def _attributes(variable: VariableDto) -> tuple[str | None, str | None, bool]:
    return variable.name, variable.description, variable.is_secret


def _shown(variable: VariableDto, masked: bool, changed: bool = False) -> VariableSpec:
    value = variable.value if not masked else _CHANGED if changed else MASK
    return VariableSpec(value=value, is_secret=variable.is_secret, description=variable.description)
