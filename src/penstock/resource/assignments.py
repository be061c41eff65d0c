"""What agents are to have of one kind of work, answered from what is stored now, and to each only its own."""

from abc import ABC, abstractmethod
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, TypeVar
from uuid import UUID

import msgspec

from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.names import name_key
from penstock.kernel.wire import Wire, encode
from penstock.protocol.assignment import AssignmentAnswer, AssignmentItem, AssignmentQuery
from penstock.protocol.capability import Requirement
from penstock.protocol.work import VariableAnswer, VariableQuery, VariableValue
from penstock.resource.matching import Matching, Needs, needs_of
from penstock.resource.mirror import Mirror
from penstock.resource.ports.agents import KnownAgent
from penstock.resource.ports.variables import Variables
from penstock.store.definition import Collection
from penstock.store.store import Store

E = TypeVar("E", bound=Entity)

_BYTES = 2 * 1024 * 1024  # of items in one answer; the bus takes 8 MiB
_NAMES = 5000


@dataclass(frozen=True)
class Assignable:
    """What must be known of an item before anybody asks for its body.

    stamp: differs whenever agents must learn something new. references: names of variables in the body, secrets
    included.
    """

    key: UUID
    name: str
    stamp: str
    requirements: Sequence[Requirement]
    references: Names[str] = ()

    @cached_property
    def needs(self) -> Needs:
        return needs_of(self.requirements)


@dataclass(frozen=True)
class AssignmentBody:
    """What an agent gets of an item. has_secrets: it must not keep it on its disk."""

    content: Wire
    has_secrets: bool = False


@dataclass(frozen=True)
class AssignmentParts:
    """What every kind of work is assigned with; declared as a service by each area that has one."""

    store: Store
    clock: Clock
    matching: Matching
    variables: Variables


class Assignments(ABC, Generic[E]):
    """Work of one kind, entities of one collection: every agent that meets an item's requirements has it.

    kind: its word in `subjects`. noun: what one is called in messages. collection: where they are stored.
    upstream: names of other collections whose changes may change what agents get.
    """

    kind: ClassVar[str]
    noun: ClassVar[str]
    collection: Collection[E]
    upstream: ClassVar[Sequence[str]] = ()

    def __init__(self, parts: AssignmentParts) -> None:
        self._mirror = Mirror(parts.store, self.collection, self._projected)
        self._matching = parts.matching
        self._variables = parts.variables

    @abstractmethod
    def assignable(self, entity: E) -> Assignable | None:
        """What an item is matched by; None for an entity that is no work for agents as it stands."""

    @abstractmethod
    async def body(self, entity: E) -> AssignmentBody | None:
        """What agents get; None for an item that cannot be given now, which is logged."""

    async def refresh(self) -> None:
        """Called before a question is answered: for what `current`, `gives` and `body` depend on."""

    def current(self, assignable: Assignable, entity: E) -> Assignable:
        """What an item is answered by, where more than the entity decides its stamp and references."""
        return assignable

    def gives(self, entity: E) -> bool:
        """Whether agents that have the item may keep it. By default all that is stored."""
        return True

    async def all(self) -> Mapping[UUID, Assignable]:
        """Every item, by its key."""
        return {assignable.key: assignable for assignable, _ in await self._items()}

    async def entities(self) -> list[E]:
        """Every item as stored."""
        return [entity for _, entity in await self._items()]

    async def of(self, agent_id: UUID) -> list[E]:
        """The items of an agent in the order of their keys; none of one that is unknown or deprecated."""
        return [entity for _, entity in await self._items_of(agent_id)]

    async def agents_of(self, entity: E) -> Sequence[KnownAgent]:
        """The agents that have an item."""
        assignable = self.assignable(entity)
        return (await self._matching.matcher()).agents_for(assignable.needs) if assignable is not None else ()

    async def answer(self, agent_id: UUID, query: AssignmentQuery) -> AssignmentAnswer:
        """A page of the agent's items, bounded in bytes."""
        await self.refresh()
        answer = AssignmentAnswer(items=[], unchanged=[])
        room = _BYTES
        for known, entity in await self._items_of(agent_id):
            assignable, key = self.current(known, entity), known.key
            if query.after is not None and key <= query.after:
                continue
            if query.stamps.get(str(key)) == assignable.stamp and self.gives(entity):
                answer.unchanged.append(key)
            elif (item := await self._item(assignable, entity)) is not None:
                room -= len(item.body)
                if room < 0 and answer.items:
                    break
                answer.items.append(item)
            answer.next = key
        else:
            answer.next = None
        return answer

    async def variables(self, agent_id: UUID, query: VariableQuery) -> VariableAnswer:
        """Values of those variables asked for that the agent's items refer to."""
        await self.refresh()
        items = [self.current(known, entity) for known, entity in await self._items_of(agent_id)]
        referred = {name_key(name) for assignable in items for name in assignable.references}
        asked = [name for name in query.names[:_NAMES] if name_key(name) in referred]
        values = await self._variables.values(asked) if asked else {}
        return VariableAnswer(
            values={name: VariableValue(value=value, is_secret=secret) for name, (value, secret) in values.items()}
        )

    async def _items_of(self, agent_id: UUID) -> Sequence[tuple[Assignable, E]]:
        matcher = (await self._matching.matcher()).alone(agent_id)
        mine = [item for item in await self._items() if matcher.agents_for(item[0].needs)]
        return sorted(mine, key=lambda item: item[0].key)

    async def _items(self) -> Sequence[tuple[Assignable, E]]:
        return [item for item in (await self._mirror.current()).values() if item is not None]

    def _projected(self, entity: E) -> tuple[Assignable, E] | None:
        assignable = self.assignable(entity)
        return (assignable, entity) if assignable is not None else None

    async def _item(self, assignable: Assignable, entity: E) -> AssignmentItem | None:
        body = await self.body(entity)
        if body is None:
            return None
        raw = msgspec.Raw(encode(body.content))
        return AssignmentItem(key=assignable.key, stamp=assignable.stamp, has_secrets=body.has_secrets, body=raw)
