"""Operations on triggers."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.eventsources.model import Trigger, TriggerInstance
from penstock.areas.eventsources.triggers import TriggerService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body


class TriggerOperations:
    """Triggers: event sources that the servers run."""

    def __init__(self, triggers: TriggerService) -> None:
        self._triggers = triggers

    @operation("GET", "/api/EventHub/Trigger", Role.READER)
    async def list(self) -> Sequence[TriggerInstance]:
        """List triggers, newest first, each with its status; secrets in their configurations are masked."""
        return await self._triggers.all()

    @operation("POST", "/api/EventHub/Trigger", Role.OPERATOR)
    async def create(self, trigger: Body[Trigger], actor: Actor) -> str:
        """Create a trigger, or replace the one of the Id given; the answer is its id.

        TypeName is the name of a kind (`GET /api/EventHub/Catalog`). One server runs it at a time, and runs never
        overlap: due times that pass while it runs are left out. Its events go to TargetChannel alone; without one they
        go to the channels that subscribe to them. CronExpression is in the servers' time zone. An unknown TargetChannel
        answers 404.
        """
        return str(await self._triggers.put(trigger, actor))

    @operation("DELETE", "/api/EventHub/Trigger/{id}", Role.OPERATOR)
    async def delete(self, id: UUID, actor: Actor) -> File:
        """Delete a trigger, which stops."""
        await self._triggers.remove(id, actor)
        return File()
