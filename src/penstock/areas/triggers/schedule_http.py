"""Operations on schedule triggers and notebook schedules."""

from uuid import UUID

from penstock.areas.triggers.model import NotebookSchedule, ScheduleTrigger, TriggerTick
from penstock.areas.triggers.notebook_schedules import NotebookScheduleService
from penstock.areas.triggers.schedule_triggers import ScheduleTriggerService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class ScheduleTriggerOperations:
    """Schedule triggers run an action when it is due."""

    def __init__(self, service: ScheduleTriggerService) -> None:
        self._service = service

    @operation("GET", "/automation/triggers/schedule/{id}", Role.READER)
    async def get_schedule_trigger(self, id: UUID) -> Encoded[ScheduleTrigger]:
        """Get a schedule trigger."""
        return await self._service.schedules.read(id)

    @operation("DELETE", "/automation/triggers/schedule/{id}", Role.OPERATOR)
    async def delete_schedule_trigger(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete a schedule trigger. A run in progress goes on."""
        await self._service.schedules.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/triggers/schedule/{id}", Role.OPERATOR)
    async def save_schedule_trigger(
        self, id: UUID, trigger: Body[ScheduleTrigger], actor: Actor, if_match: IfMatch
    ) -> ScheduleTrigger:
        """Replace a schedule trigger. Another CronExpression or Frequency counts from now on."""
        return await self._service.save(id, trigger, actor, if_match)

    @operation("GET", "/automation/triggers/schedule", Role.READER)
    async def list_schedule_triggers(self) -> Encoded[list[ScheduleTrigger]]:
        """List schedule triggers, newest first."""
        return await self._service.schedules.all()

    @operation("POST", "/automation/triggers/schedule", Role.OPERATOR)
    async def create_schedule_trigger(self, trigger: Body[ScheduleTrigger], actor: Actor) -> ScheduleTrigger:
        """Create a schedule trigger. CronExpression beats Frequency, which is at least one second.

        Runs do not overlap: what is due while the one before is in progress is skipped, and on the ledger as such.
        """
        return await self._service.create(trigger, actor)

    @operation("GET", "/automation/triggers/schedule/find", Role.READER)
    async def find_schedule_triggers(self, action_id: UUID) -> Encoded[list[ScheduleTrigger]]:
        """List the schedule triggers of an action, newest first."""
        return await self._service.schedules.all(action_id)

    @operation("PUT", "/automation/triggers/schedule/{id}/enabled", Role.OPERATOR)
    async def toggle_schedule_trigger(self, id: UUID, actor: Actor) -> ScheduleTrigger:
        """Enable a schedule trigger that is not enabled, disable one that is. Its due times stay."""
        return await self._service.toggle(id, actor)

    @operation("GET", "/automation/triggers/schedule/{id}/ticks", Role.READER, beyond=True)
    async def schedule_trigger_ticks(self, id: UUID) -> Encoded[list[TriggerTick]]:
        """List what became of the due times of the last 30 days, newest first, at most 1,000 entries."""
        return await self._service.schedules.ticks(id)


class NotebookScheduleOperations:
    """Notebook schedules run a notebook when it is due."""

    def __init__(self, service: NotebookScheduleService) -> None:
        self._service = service

    @operation("GET", "/automation/notebook/schedule/{id}", Role.READER)
    async def get_notebook_schedule(self, id: UUID) -> Encoded[NotebookSchedule]:
        """Get a notebook schedule."""
        return await self._service.schedules.read(id)

    @operation("DELETE", "/automation/notebook/schedule/{id}", Role.OPERATOR)
    async def delete_notebook_schedule(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete a notebook schedule. A run in progress goes on."""
        await self._service.schedules.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/notebook/schedule/{id}", Role.OPERATOR)
    async def save_notebook_schedule(
        self, id: UUID, schedule: Body[NotebookSchedule], actor: Actor, if_match: IfMatch
    ) -> NotebookSchedule:
        """Replace a notebook schedule. Another CronExpression or Frequency counts from now on."""
        return await self._service.save(id, schedule, actor, if_match)

    @operation("GET", "/automation/notebook/schedule/notebook/{notebookId}", Role.READER)
    async def find_notebook_schedules(self, notebook_id: UUID) -> Encoded[list[NotebookSchedule]]:
        """List the schedules of a notebook, newest first."""
        return await self._service.schedules.all(notebook_id)

    @operation("GET", "/automation/notebook/schedule", Role.READER)
    async def list_notebook_schedules(self) -> Encoded[list[NotebookSchedule]]:
        """List notebook schedules, newest first."""
        return await self._service.schedules.all()

    @operation("POST", "/automation/notebook/schedule", Role.OPERATOR)
    async def create_notebook_schedule(self, schedule: Body[NotebookSchedule], actor: Actor) -> NotebookSchedule:
        """Create a notebook schedule. See the creation of a schedule trigger."""
        return await self._service.create(schedule, actor)

    @operation("GET", "/automation/notebook/schedule/{id}/ticks", Role.READER, beyond=True)
    async def notebook_schedule_ticks(self, id: UUID) -> Encoded[list[TriggerTick]]:
        """List what became of the due times of the last 30 days, newest first, at most 1,000 entries."""
        return await self._service.schedules.ticks(id)
