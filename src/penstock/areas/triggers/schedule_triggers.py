"""What is done with schedule triggers."""

from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import checked_script, own_errors, type_errors
from penstock.areas.triggers.model import ScheduleTrigger
from penstock.areas.triggers.schedules import Schedules
from penstock.areas.triggers.stored import SCHEDULE_TRIGGERS, ScheduleKind
from penstock.areas.triggers.timetable import Timetable, timing_errors
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.resource.changes import Changes
from penstock.resource.ports.scripts import Actions
from penstock.resource.resource import Resource
from penstock.store.store import Store

TYPE = "schedule"


class ScheduleTriggerService:
    """See Schedules for what is done with both kinds of schedules."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, actions: Actions, timetable: Timetable) -> None:
        resource = Resource(SCHEDULE_TRIGGERS, store, changes, clock, kind="schedule trigger")
        self.schedules = Schedules(ScheduleKind.ACTION, resource, store, timetable)
        self._actions = actions

    async def create(self, wanted: ScheduleTrigger, actor: Actor) -> ScheduleTrigger:
        """Raises Invalid, NameTaken."""
        return await self.schedules.create(await self._checked(wanted, None), actor)

    async def save(self, id: UUID, wanted: ScheduleTrigger, actor: Actor, if_match: str | None) -> ScheduleTrigger:
        """Raises NotFound, Invalid, NameTaken, Stale."""
        await self.schedules.get(id)
        checked = await self._checked(wanted, id)
        return await self.schedules.change(id, lambda before: checked, actor, if_match or wanted.e_tag)

    async def toggle(self, id: UUID, actor: Actor) -> ScheduleTrigger:
        """Raises NotFound."""
        return await self.schedules.change(
            id, lambda before: msgspec.structs.replace(before, is_enabled=not before.is_enabled), actor
        )

    async def _checked(self, wanted: ScheduleTrigger, id: UUID | None) -> ScheduleTrigger:
        errors = [
            *own_errors(wanted.id, id, wanted.name),
            *type_errors(wanted.trigger_type, TYPE),
            *timing_errors(wanted.frequency, wanted.cron_expression),
        ]
        action = await checked_script(self._actions, wanted.action_id, "ActionId", wanted.parameters, errors)
        return msgspec.structs.replace(wanted, id=id, action_name=action.name, trigger_type=TYPE)
