"""What schedule triggers and notebook schedules have in common: entities with due times, and a ledger of them."""

from collections.abc import Callable
from typing import Generic, TypeVar
from uuid import UUID

from penstock.areas.triggers.model import NotebookSchedule, ScheduleTrigger, TriggerTick
from penstock.areas.triggers.stored import ScheduleKind
from penstock.areas.triggers.timetable import Timetable
from penstock.connectors.cadence import Cadence
from penstock.kernel.actor import Actor
from penstock.resource.answer import Encoded
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store, Where

S = TypeVar("S", bound=ScheduleTrigger | NotebookSchedule)


class Schedules(Generic[S]):
    """An entity and when it is due next are one commit; the due message follows."""

    def __init__(self, kind: ScheduleKind, resource: Resource[S], store: Store, timetable: Timetable) -> None:
        self._kind = kind
        self._resource = resource
        self._store = store
        self._timetable = timetable

    async def all(self, script: UUID | None = None) -> Encoded[list[S]]:
        """Newest first. script: only those that run it."""
        return await self._resource.all([Where("script", "=", str(script))] if script is not None else [])

    async def read(self, id: UUID) -> Encoded[S]:
        """Raises NotFound."""
        return await self._resource.read(id)

    async def get(self, id: UUID) -> S:
        """Raises NotFound."""
        return await self._resource.get(id)

    async def create(self, wanted: S, actor: Actor) -> S:
        """wanted: checked. Raises NameTaken."""
        stored, writes = self._resource.plan_create(wanted, actor)
        run, write = await self._timetable.plan_put(stored.key, self._kind, self._cadence(stored))
        await self._resource.commit([*writes, write], stored)
        await self._timetable.put(run)
        return stored

    async def change(self, id: UUID, edit: Callable[[S], S], actor: Actor, if_match: str | None = None) -> S:
        """edit: makes the checked successor. Its due times begin anew only when they are others.

        Raises NotFound, NameTaken, Stale.
        """

        async def attempt() -> S:
            before = await self.get(id)
            stored, writes = self._resource.plan_replace(edit(before), before, actor, if_match=if_match)
            if self._cadence(stored) == self._cadence(before):
                await self._resource.commit(writes, stored)
                return stored
            run, write = await self._timetable.plan_put(id, self._kind, self._cadence(stored))
            await self._resource.commit([*writes, write], stored)
            await self._timetable.put(run)
            return stored

        return await last_wins(attempt, if_match)

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        before = await self.get(id)
        writes = [*self._resource.plan_delete(before, actor, if_match), self._timetable.plan_remove(id)]
        await self._resource.commit(writes, before)
        await self._timetable.cancel(id)

    async def ticks(self, id: UUID) -> Encoded[list[TriggerTick]]:
        """What became of its due times, newest first, at most 1,000. Raises NotFound."""
        await self.get(id)
        return await self._timetable.ticks(id)

    def _cadence(self, schedule: S) -> Cadence:
        return self._timetable.cadence(schedule.frequency, schedule.cron_expression)
