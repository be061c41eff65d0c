"""Operations on triggers of every kind."""

from penstock.areas.triggers.overview import TriggerList, TriggerOverview
from penstock.kernel.actor import Role
from penstock.resource.operation import operation


class TriggerOverviewOperations:
    """What runs actions and notebooks by itself."""

    def __init__(self, triggers: TriggerList) -> None:
        self._triggers = triggers

    @operation("GET", "/automation/triggers", Role.READER, beyond=True)
    async def list_triggers(self) -> list[TriggerOverview]:
        """List what runs actions and notebooks by itself, newest first: triggers, notebook endpoints and schedules."""
        return await self._triggers.all()
