"""The CRUD kit: what every stored resource does, written once.

A resource is a collection plus this service; an area writes out only what goes beyond it.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import NotFound, Stale
from penstock.resource.answer import Encoded
from penstock.resource.audit import audit
from penstock.resource.changes import Changes
from penstock.store.definition import Collection, Value
from penstock.store.store import Document, Store, Where, decode
from penstock.store.write import Delete, Insert, Replace, Write

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class Resource(Generic[E]):
    """Reads and changes of one collection of entities, each change audited in the same commit.

    kind: what messages call one of them, such as "agent".
    label: the field that names an entity in messages and in the audit log.
    audited: what the audit log shows of an entity that holds more than it may show; all of it unless given.
    """

    def __init__(
        self,
        collection: Collection[E],
        store: Store,
        changes: Changes,
        clock: Clock,
        *,
        kind: str,
        label: str = "name",
        audited: Callable[[E], Any] | None = None,
    ) -> None:
        self.collection = collection
        self.kind = kind
        self._label = label
        self._audited = audited
        self._store = store
        self._changes = changes
        self._clock = clock

    async def all(self, where: Sequence[Where] = ()) -> Encoded[list[E]]:
        """All live entities, newest first, as stored."""
        return Encoded.array([document.body for document in await self._documents(where)])

    async def decoded(self, where: Sequence[Where] = ()) -> list[E]:
        """All live entities, decoded."""
        return [self._entity(document) for document in await self._documents(where)]

    async def read(self, id: UUID) -> Encoded[E]:
        """One entity as stored. Raises NotFound."""
        document = await self._document(id)
        return Encoded(document.body, document.e_tag)

    async def get(self, id: UUID) -> E:
        """One entity, decoded. Raises NotFound."""
        return self._entity(await self._document(id))

    async def find(self, column: str, value: Value) -> E | None:
        """The entity with this value in a unique column."""
        document = await self._store.find(self.collection, column, value)
        return self._entity(document) if document else None

    async def named(self, name: str) -> E:
        """The entity of this name, compared without case. Raises NotFound."""
        found = await self.find("name", name)
        if found is None:
            raise NotFound.of(self.kind, name)
        return found

    async def create(self, entity: E, actor: Actor, sealed: bytes | None = None) -> E:
        """Stores a new entity. Raises NameTaken."""
        stored, writes = self.plan_create(entity, actor, sealed)
        await self.commit(writes, stored)
        return stored

    async def replace(self, entity: E, before: E, actor: Actor, if_match: str | None = None) -> E:
        """Stores `entity` in place of `before`. Raises Stale when the ETag given is not the current one, NameTaken."""
        stored, writes = self.plan_replace(entity, before, actor, if_match=if_match)
        await self.commit(writes, stored)
        return stored

    async def change(self, id: UUID, edit: Callable[[E], E], actor: Actor, if_match: str | None = None) -> E:
        """Stores what `edit` makes of the entity; an `edit` that returns what it was given changes nothing.

        Without an ETag given the last write wins: `edit` is repeated when another change came first.
        Raises NotFound, Stale, NameTaken.
        """
        for left in reversed(range(_TRIES)):
            before = await self.get(id)
            entity = edit(before)
            if entity is before:
                return before
            try:
                return await self.replace(entity, before, actor, if_match)
            except Stale:
                if if_match or entity.e_tag != before.e_tag or not left:
                    raise
        raise Stale

    async def delete(self, before: E, actor: Actor, if_match: str | None = None) -> None:
        """Deletes softly. Raises Stale, NotFound."""
        await self.commit(self.plan_delete(before, actor, if_match), before)

    def plan_create(self, entity: E, actor: Actor, sealed: bytes | None = None) -> tuple[E, list[Write]]:
        """The entity as it will be stored, and the writes that store it together with its audit entry."""
        now = self._clock.now()
        stored = entity.created(actor, now)
        insert = Insert(self.collection, stored.key, stored.e_tag or "", stored, now, expires_at(stored, now), sealed)
        return stored, [insert, self._audit("created", stored, actor, now, after=stored)]

    def plan_replace(
        self, entity: E, before: E, actor: Actor, *, if_match: str | None = None, sealed: bytes | None = None
    ) -> tuple[E, list[Write]]:
        """As plan_create, for a change. What is sealed stays unless `sealed` replaces it.

        A concurrent change between the read of `before` and the commit makes the commit Stale.
        """
        now = self._clock.now()
        stored = entity.changed(before, actor, now)
        replace = Replace(
            self.collection,
            stored.key,
            stored.e_tag or "",
            stored,
            now,
            expected=if_match or entity.e_tag or before.e_tag,
            expires_at=expires_at(stored, now),
            sealed=sealed,
            keep_sealed=sealed is None,
        )
        return stored, [replace, self._audit("updated", stored, actor, now, before=before, after=stored)]

    def plan_delete(self, before: E, actor: Actor, if_match: str | None = None) -> list[Write]:
        """The writes that delete an entity and record it."""
        now = self._clock.now()
        return [
            Delete(self.collection, before.key, now, expected=if_match),
            self._audit("deleted", before, actor, now, before=before),
        ]

    async def commit(self, writes: Sequence[Write], *changed: E) -> None:
        """Commits planned writes and tells the other parts about the entities changed."""
        await self._store.commit(writes)
        await self._changes.tell(self.collection.name, *[self.label(entity) for entity in changed])

    def label(self, entity: E) -> str:
        """What the entity is called in messages and notices."""
        return str(getattr(entity, self._label, None) or entity.key)

    async def _documents(self, where: Sequence[Where]) -> Sequence[Document]:
        return await self._store.list(self.collection, where, limit=_ALL)

    async def _document(self, id: UUID) -> Document:
        document = await self._store.get(self.collection, id)
        if document is None:
            raise NotFound.of(self.kind, id)
        return document

    def _entity(self, document: Document) -> E:
        return decode(document.body, self.collection.type)

    def _audit(self, act: str, entity: E, actor: Actor, now: datetime, **states: E) -> Write:
        subject = self.label(entity)
        shown = {name: self._audited(state) if self._audited else state for name, state in states.items()}
        return audit(act, self.collection.name, entity.key, actor=actor, at=now, subject=subject, **shown)


_ALL = 2**31 - 1
_TRIES = 10


async def last_wins(attempt: Callable[[], Awaitable[T]], if_match: str | None = None) -> T:
    """What `attempt` answers, made again when another change came first; once only when an ETag was given.

    Raises what `attempt` raises.
    """
    for left in reversed(range(_TRIES)):
        try:
            return await attempt()
        except Stale:
            if if_match is not None or not left:
                raise
    raise Stale


def expires_at(entity: Entity, now: datetime) -> datetime | None:
    """When the entity's TimeToLive ends."""
    return now + timedelta(seconds=entity.time_to_live) if entity.time_to_live is not None else None
