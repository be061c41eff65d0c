"""Operations on triggers of every kind."""

from uuid import UUID

from penstock.areas.triggers.model import TriggerTick
from penstock.areas.triggers.overview import TriggerList, TriggerOverview
from penstock.kernel.actor import Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation


class TriggerOverviewOperations:
    """What runs actions and notebooks by itself."""

    def __init__(self, triggers: TriggerList) -> None:
        self._triggers = triggers

    @operation("GET", "/automation/triggers", Role.READER, beyond=True)
    async def list_triggers(self) -> list[TriggerOverview]:
        """List what runs actions and notebooks by itself, newest first: triggers, notebook endpoints and schedules."""
        return await self._triggers.all()

    @operation("GET", "/automation/ticks", Role.READER, beyond=True)
    async def list_ticks(self, schedule_id: UUID) -> Encoded[list[TriggerTick]]:
        """List what became of the due times of a schedule of either kind in the last 30 days, newest first.

        At most 1,000 entries are listed.
        """
        return await self._triggers.ticks(schedule_id)
