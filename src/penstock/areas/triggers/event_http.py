"""Operations on event triggers."""

from uuid import UUID

from penstock.areas.triggers.event_triggers import EventTriggerService
from penstock.areas.triggers.model import EventTrigger
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class EventTriggerOperations:
    """Event triggers run an action for each accepted event that they match."""

    def __init__(self, service: EventTriggerService) -> None:
        self._service = service

    @operation("GET", "/automation/triggers/event/{id}", Role.READER)
    async def get_event_trigger(self, id: UUID) -> EventTrigger:
        """Get an event trigger."""
        return (await self._service.get(id)).shown()

    @operation("DELETE", "/automation/triggers/event/{id}", Role.OPERATOR)
    async def delete_event_trigger(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete an event trigger. Runs in progress go on; those that wait do not begin."""
        await self._service.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/triggers/event/{id}", Role.OPERATOR)
    async def save_event_trigger(
        self, id: UUID, trigger: Body[EventTrigger], actor: Actor, if_match: IfMatch
    ) -> EventTrigger:
        """Replace an event trigger. One that is enabled by it, or matches others, is for events from then on."""
        return await self._service.save(id, trigger, actor, if_match)

    @operation("GET", "/automation/triggers/event", Role.READER)
    async def list_event_triggers(self) -> list[EventTrigger]:
        """List event triggers, newest first."""
        return await self._service.all()

    @operation("POST", "/automation/triggers/event", Role.OPERATOR)
    async def create_event_trigger(self, trigger: Body[EventTrigger], actor: Actor) -> EventTrigger:
        """Create an event trigger, for events that are accepted from then on.

        EventType, EventSource and Version match as subscriptions do. Values are checked against the action's
        parameters. A JsonPath that selects nothing of an event puts a failed run on record, and so does a value of a
        wrong type.
        """
        return await self._service.create(trigger, actor)

    @operation("GET", "/automation/triggers/event/find", Role.READER)
    async def find_event_triggers(self, action_id: UUID) -> list[EventTrigger]:
        """List the event triggers of an action, newest first."""
        return await self._service.all(action_id)

    @operation("PUT", "/automation/triggers/event/{id}/enabled", Role.OPERATOR)
    async def toggle_event_trigger(self, id: UUID, actor: Actor) -> EventTrigger:
        """Enable an event trigger that is not enabled, disable one that is."""
        return await self._service.toggle(id, actor)
