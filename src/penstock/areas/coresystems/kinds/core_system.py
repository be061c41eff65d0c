"""The configuration kind CoreSystem."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.coresystems.model import StoredCoreSystem
from penstock.areas.coresystems.service import CoreSystemService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import Invalid
from penstock.protocol.core_system import CoreSystem2
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec, in_document

_FIELDS = {"Name": "metadata.name", "Description": "metadata.description"}


class CoreSystemSpec(Spec):
    """A system that integrations connect, with what is needed to reach it."""

    title: Annotated[str | None, msgspec.Meta(description="What people call it.")] = None
    category: Annotated[
        str | None,
        msgspec.Meta(
            description="`storage`: files can be transferred from and to it; metadata.category stands in for it."
        ),
    ] = None
    type: Annotated[str | None, msgspec.Meta(description="Which kind of system it is; required for a storage.")] = None
    variables: Annotated[
        dict[str, str | int | float | bool],
        msgspec.Meta(
            description="What is needed to reach it. `{{var:NAME}}` in a text is replaced where it is used. Values "
            "whose names look like secrets, and addresses with a password, are sealed and shown as a mask, which keeps "
            "the secret while `type` and the other variables stay."
        ),
    ] = {}


class CoreSystemKind(ConfigurationKind[CoreSystemSpec]):
    """A core system, such as a storage of files."""

    kind = "CoreSystem"
    spec = CoreSystemSpec

    def __init__(self, service: CoreSystemService) -> None:
        self._service = service

    async def plan(self, metadata: Metadata, spec: CoreSystemSpec, actor: Actor) -> Plan:
        before = await self._service.find(metadata.name)
        wanted = CoreSystem2(
            name=metadata.name,
            title=spec.title,
            description=metadata.description,
            category=spec.category or metadata.category,
            type=spec.type,
            variables=dict(spec.variables),
        )
        try:
            after, writes = await self._service.plan_put(wanted, before, actor)
        except Invalid as error:
            raise in_document(error, _FIELDS) from None
        shown = _shown(before) if before is not None else None
        if not writes:
            return Plan("keep", before=shown, after=shown)
        return Plan(
            "change" if before is not None else "create",
            before=shown,
            after=_shown(after),
            writes=writes,
            finish=[partial(self._service.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        system = await self._service.find(metadata.name)
        if system is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(system),
            writes=self._service.plan_remove(system, actor),
            finish=[partial(self._service.announce, system)],
        )


def _shown(system: StoredCoreSystem) -> CoreSystemSpec:
    return CoreSystemSpec(title=system.title, category=system.category, type=system.type, variables=system.variables)
