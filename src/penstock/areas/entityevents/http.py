"""Operations on the entity event store."""

from datetime import datetime
from uuid import UUID

from penstock.areas.entityevents.service import EntityEvents
from penstock.kernel.actor import Role
from penstock.kernel.wire import join_array
from penstock.resource.answer import Encoded
from penstock.resource.audit import EntityEventItem
from penstock.resource.operation import operation


class EntityEventHandlers:
    """The audit log: every change of an entity, who made it, from what to what."""

    def __init__(self, service: EntityEvents) -> None:
        self._service = service

    @operation("GET", "/events/store/{id}", Role.ADMIN)
    async def get_entity_event(self, id: UUID) -> Encoded[EntityEventItem]:
        """Read one entity event.

        EventType is the entity's type and what happened, such as `users.created`; Content is a JSON object with
        `Before` and `After`, without secrets; Subject is the entity's name, Source who acted.
        Only for Admin: events tell of users, which nobody else may list.
        """
        return await self._service.event(id)

    @operation("GET", "/events/store", Role.ADMIN)
    async def list_entity_events(
        self, entity_id: str, from_date: datetime, to_date: datetime
    ) -> Encoded[list[EntityEventItem]]:
        """List the events of an entity, newest first, from `fromDate` up to but not at `toDate`.

        At most 1,000 are answered; when there are more, `Link: rel="next"` is the request for the older ones.
        Only for Admin: events tell of users, which nobody else may list.
        """
        page = await self._service.events(entity_id, from_date, to_date)
        older = {"toDate": page.next_to.isoformat()} if page.next_to else None
        return Encoded(join_array(list(page.events)), next_query=older)
