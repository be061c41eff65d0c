"""Configuration kinds of resources that have a service: found by name, planned, told of."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic, Protocol, TypeVar

from penstock.kernel.actor import Actor
from penstock.kernel.entity import Entity
from penstock.kernel.errors import Invalid
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, S, in_document
from penstock.store.write import Write

E = TypeVar("E", bound=Entity)


class PlanningService(Protocol[E]):
    """What such a kind needs of the service."""

    async def find(self, name: str) -> E | None:
        """The object of this name, compared without case."""
        ...

    async def plan_remove(self, entity: E, actor: Actor) -> Sequence[Write]:
        """The writes that remove it."""
        ...

    async def announce(self, entity: E) -> None:
        """Tells of a change, once it is committed."""
        ...


class ResourceKind(ConfigurationKind[S], Generic[S, E]):
    """places: where a document has the fields that are called otherwise there; see `in_document`."""

    places: ClassVar[Mapping[str, str]] = {"Name": "metadata.name", "Description": "metadata.description"}

    def __init__(self, service: PlanningService[E]) -> None:
        self._planning = service

    @abstractmethod
    async def plan_put(self, metadata: Metadata, spec: S, before: E | None, actor: Actor) -> tuple[E, Sequence[Write]]:
        """The object as it will be, and the writes that make it so; none when nothing differs.

        Raises Invalid, with the fields of the operation that does the same.
        """

    @abstractmethod
    def shown(self, entity: E) -> S:
        """The object as configuration shows it, without secrets."""

    async def plan(self, metadata: Metadata, spec: S, actor: Actor) -> Plan:
        found = await self._planning.find(metadata.name)
        try:
            entity, writes = await self.plan_put(metadata, spec, found, actor)
        except Invalid as error:
            raise in_document(error, self.places) from None
        before = self.shown(found) if found is not None else None
        return Plan.of_put(before, self.shown(entity), writes, finish=[partial(self._planning.announce, entity)])

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        found = await self._planning.find(metadata.name)
        if found is None:
            return Plan("keep")
        writes = await self._planning.plan_remove(found, actor)
        finish = [partial(self._planning.announce, found)]
        return Plan("remove", before=self.shown(found), writes=writes, finish=finish)
