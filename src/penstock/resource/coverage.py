"""Keeps note of items of work that no agent matches: such a one does not run, and that is visible."""

from abc import ABC
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from penstock.kernel.actor import SYSTEM
from penstock.kernel.entity import Entity
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.wire import Wire
from penstock.resource.assignments import Assignable, AssignmentParts, Assignments
from penstock.resource.audit import audit
from penstock.resource.matching import told
from penstock.store.definition import Collection
from penstock.store.write import Append, Delete, Insert, Write

log = structlog.get_logger(__name__)


class CoverageEvent(Wire):
    """What the entity event of an item says when agents begin or cease to match."""

    message: str


class Unmatched(Entity):
    """Under an item's key: no agent meets its requirements since then."""

    since: datetime


class AssignmentCoverage(ABC):
    """Compares the items of a kind with agents. One entity event tells of each change.

    notes: the collection of its own that holds what is unmatched.
    """

    notes: Collection[Unmatched]

    def __init__(self, parts: AssignmentParts, assignments: Assignments[Any]) -> None:
        self._store = parts.store
        self._clock = parts.clock
        self._matching = parts.matching
        self._assignments = assignments

    async def check(self) -> None:
        """Notes for each item whether an agent matches it; any number of replicas may do so."""
        matcher = await self._matching.matcher()
        items = await self._assignments.all()
        noted = {UUID(str(id)) for (id,) in await self._store.values(self.notes, ["id"])}
        unmatched = {key for key, item in items.items() if not matcher.agents_for(item.needs)}
        for key in unmatched - noted:
            await self._commit(self._plan_unmatched(items[key]))
        for key in noted - unmatched:
            await self._commit(self._plan_matched(key, items.get(key)))

    def _plan_unmatched(self, item: Assignable) -> Sequence[Write]:
        now = self._clock.now()
        insert = Insert(self.notes, item.key, new_id().hex, Unmatched(id=item.key, since=now), now)
        return [insert, self._event("unmatched", item, f"no agent matches: needs {told(item.requirements)}")]

    def _plan_matched(self, key: UUID, item: Assignable | None) -> Sequence[Write]:
        delete = Delete(self.notes, key, self._clock.now())
        events = [self._event("matched", item, f"an agent matches: {told(item.requirements)}")] if item else []
        return [delete, *events]

    async def _commit(self, writes: Sequence[Write]) -> None:
        try:
            await self._store.commit(writes)
        except (NameTaken, NotFound, Stale):
            return  # another replica was quicker

    def _event(self, act: str, item: Assignable, message: str) -> Append:
        log.info("coverage changed", kind=self._assignments.noun, name=item.name, message=message)
        after = CoverageEvent(message=message)
        name, now = self._assignments.collection.name, self._clock.now()
        return audit(act, name, item.key, actor=SYSTEM, at=now, subject=item.name, after=after)
