"""What is done with notebook schedules."""

from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import checked_script, own_errors
from penstock.areas.triggers.model import NotebookSchedule
from penstock.areas.triggers.schedules import Schedules
from penstock.areas.triggers.stored import NOTEBOOK_SCHEDULES, ScheduleKind
from penstock.areas.triggers.timetable import Timetable, timing_errors
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.resource.changes import Changes
from penstock.resource.ports.scripts import Notebooks
from penstock.resource.resource import Resource
from penstock.store.store import Store


class NotebookScheduleService:
    """See Schedules for what is done with both kinds of schedules."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, notebooks: Notebooks, timetable: Timetable
    ) -> None:
        resource = Resource(NOTEBOOK_SCHEDULES, store, changes, clock, kind="notebook schedule")
        self.schedules = Schedules(ScheduleKind.NOTEBOOK, resource, store, timetable)
        self._notebooks = notebooks

    async def create(self, wanted: NotebookSchedule, actor: Actor) -> NotebookSchedule:
        """Raises Invalid, NameTaken."""
        return await self.schedules.create(await self._checked(wanted, None), actor)

    async def save(self, id: UUID, wanted: NotebookSchedule, actor: Actor, if_match: str | None) -> NotebookSchedule:
        """Raises NotFound, Invalid, NameTaken, Stale."""
        await self.schedules.get(id)
        checked = await self._checked(wanted, id)
        return await self.schedules.change(id, lambda before: checked, actor, if_match or wanted.e_tag)

    async def _checked(self, wanted: NotebookSchedule, id: UUID | None) -> NotebookSchedule:
        errors = [
            *own_errors(wanted.id, id, wanted.name),
            *timing_errors(wanted.frequency, wanted.cron_expression),
        ]
        await checked_script(self._notebooks, wanted.notebook_id, "NotebookId", wanted.parameters, errors)
        return msgspec.structs.replace(wanted, id=id)
