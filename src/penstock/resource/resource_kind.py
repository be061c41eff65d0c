"""Configuration kinds of resources that have a service: found by name, planned, told of."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic, Protocol, TypeVar

from penstock.kernel.actor import Actor
from penstock.kernel.entity import Entity
from penstock.kernel.errors import Invalid
from penstock.resource.kind import ConfigurationKind, Metadata, Need, Plan, S, Step, in_document
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

    def placed(self, error: Invalid) -> Invalid:
        """The error of `plan_put` with the fields of a document."""
        return in_document(error, self.places)

    async def needs(self, entity: E) -> Sequence[Need]:
        """What the object names that does not exist."""
        return ()

    def prepare(self, entity: E) -> Sequence[Step]:
        """What is done before the object is committed; see Plan."""
        return ()

    def clear(self, entity: E) -> Sequence[Step]:
        """What is done once the object is removed; see Plan.finish."""
        return ()

    def made(self, entity: E) -> Sequence[str]:
        """See Plan.makes."""
        return ()

    async def plan(self, metadata: Metadata, spec: S, actor: Actor) -> Plan:
        found = await self._planning.find(metadata.name)
        try:
            entity, writes = await self.plan_put(metadata, spec, found, actor)
        except Invalid as error:
            raise self.placed(error) from None
        return Plan.of_put(
            self.shown(found) if found is not None else None,
            self.shown(entity),
            writes,
            needs=await self.needs(entity),
            makes=self.made(entity),
            prepare=self.prepare(entity),
            finish=[partial(self._planning.announce, entity)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        found = await self._planning.find(metadata.name)
        if found is None:
            return Plan("keep")
        writes = await self._planning.plan_remove(found, actor)
        finish: list[Step] = [partial(self._planning.announce, found), *self.clear(found)]
        return Plan("remove", before=self.shown(found), writes=writes, finish=finish)
