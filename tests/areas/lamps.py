"""A small configuration kind for tests of what all kinds share: lamps, kept in a collection of their own."""

from collections.abc import Awaitable, Callable

import msgspec

from penstock.kernel.actor import Actor
from penstock.kernel.clock import SystemClock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError, Invalid
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec
from penstock.store.definition import Collection, Column, ColumnType
from penstock.store.store import Store, decode
from penstock.store.write import Delete, Insert, Replace


class Lamp(Entity):
    name: str
    watts: int


class Shade(Spec):
    colour: str
    rings: list[int] = []


class LampSpec(Spec):
    """A lamp. watts: what it takes, 1 to 100."""

    watts: int
    labels: list[str] = []
    shade: Shade | None = None


LAMPS: Collection[Lamp] = Collection(
    "lamps", Lamp, (Column("name", lambda lamp: lamp.name, ColumnType.KEY, unique=True),)
)


class LampKind(ConfigurationKind[LampSpec]):
    """Lamps of the test bench."""

    kind = "Lamp"
    spec = LampSpec

    def __init__(self, store: Store) -> None:
        self._store = store
        self.before_commit: dict[str, Callable[[], Awaitable[None]]] = {}
        self.finished: list[str] = []

    async def plan(self, metadata: Metadata, spec: LampSpec, actor: Actor) -> Plan:
        if not 1 <= spec.watts <= 100:
            raise Invalid([FieldError("spec.watts", "must be 1 to 100")])
        found = await self._find(metadata.name)
        now = SystemClock().now()
        if found is None:
            lamp = Lamp(name=metadata.name, watts=spec.watts).created(actor, now)
            insert = Insert(LAMPS, lamp.key, lamp.e_tag or "", lamp, now)
            return self._plan("create", metadata.name, None, lamp, insert)
        if found.watts == spec.watts:
            return Plan("keep", before=shown(found), after=shown(found))
        lamp = msgspec.structs.replace(found, watts=spec.watts).changed(found, actor, now)
        replace = Replace(LAMPS, lamp.key, lamp.e_tag or "", lamp, now, expected=found.e_tag)
        return self._plan("change", metadata.name, found, lamp, replace)

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        found = await self._find(metadata.name)
        if found is None:
            return Plan("keep")
        delete = Delete(LAMPS, found.key, SystemClock().now(), expected=found.e_tag)
        return self._plan("remove", metadata.name, found, None, delete)

    async def watts(self) -> dict[str, int]:
        """All lamps there are."""
        documents = await self._store.list(LAMPS)
        lamps = [decode(document.body, Lamp) for document in documents]
        return {lamp.name: lamp.watts for lamp in lamps}

    async def _find(self, name: str) -> Lamp | None:
        document = await self._store.find(LAMPS, "name", name)
        return decode(document.body, Lamp) if document else None

    def _plan(
        self, action: str, name: str, before: Lamp | None, after: Lamp | None, write: Insert | Replace | Delete
    ) -> Plan:
        async def finish() -> None:
            self.finished.append(name)

        return Plan(
            action,
            before=shown(before),
            after=shown(after),
            writes=[write],
            prepare=[self.before_commit[name]] if name in self.before_commit else [],
            finish=[finish],
        )


def shown(lamp: Lamp | None) -> dict[str, int] | None:
    return {"watts": lamp.watts} if lamp else None
