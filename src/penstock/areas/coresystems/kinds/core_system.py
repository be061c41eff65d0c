"""The configuration kind CoreSystem."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.coresystems.model import StoredCoreSystem
from penstock.areas.coresystems.service import CoreSystemService
from penstock.kernel.actor import Actor
from penstock.protocol.core_system import CoreSystem2
from penstock.resource.kind import Metadata, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write


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


class CoreSystemKind(ResourceKind[CoreSystemSpec, StoredCoreSystem]):
    """A core system, such as a storage of files."""

    kind = "CoreSystem"
    spec = CoreSystemSpec

    def __init__(self, service: CoreSystemService) -> None:
        super().__init__(service)
        self._service = service

    async def plan_put(
        self, metadata: Metadata, spec: CoreSystemSpec, before: StoredCoreSystem | None, actor: Actor
    ) -> tuple[StoredCoreSystem, Sequence[Write]]:
        wanted = CoreSystem2(
            name=metadata.name,
            title=spec.title,
            description=metadata.description,
            category=spec.category or metadata.category,
            type=spec.type,
            variables=dict(spec.variables),
        )
        return await self._service.plan_put(wanted, before, actor)

    def shown(self, entity: StoredCoreSystem) -> CoreSystemSpec:
        return _shown(entity)


def _shown(system: StoredCoreSystem) -> CoreSystemSpec:
    return CoreSystemSpec(title=system.title, category=system.category, type=system.type, variables=system.variables)
