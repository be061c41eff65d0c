"""Reading the entity event store; the areas write it with their changes (resource.audit)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from penstock.kernel.errors import Invalid, NotFound
from penstock.resource.answer import Encoded
from penstock.resource.audit import ENTITY_EVENTS, EntityEventItem
from penstock.resource.page import MOST
from penstock.store.body import decode
from penstock.store.store import Store, Where


@dataclass(frozen=True)
class EventPage:
    """Encoded events, newest first. next_to: the end of the interval that holds the older ones, if there are more."""

    events: Sequence[bytes]
    next_to: datetime | None


class EntityEvents:
    """Finds what happened to entities."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def event(self, id: UUID) -> Encoded[EntityEventItem]:
        """One event. Raises NotFound."""
        body = await self._store.entry(ENTITY_EVENTS, str(id))
        if body is None:
            raise NotFound.of("entity event", id)
        return Encoded(body)

    async def events(self, entity_id: str, since: datetime, until: datetime) -> EventPage:
        """The events of one entity with since <= time < until, newest first, at most 1,000. Raises Invalid."""
        if since > until:
            raise Invalid.one("fromDate", "must not be after toDate")
        found = await self._store.entries(
            ENTITY_EVENTS, [Where("entity_id", "=", entity_id)], since=since, until=until, limit=MOST + 1
        )
        return _page(found)


def _page(found: Sequence[bytes]) -> EventPage:
    """Cuts between two times, so that none is lost or repeated where pages meet."""
    if len(found) <= MOST:
        return EventPage(found, None)
    first_left_out = _time(found[MOST])
    kept = next((count for count in range(MOST, 0, -1) if _time(found[count - 1]) != first_left_out), 0)
    if not kept:
        # More than a page within one microsecond: the rest is passed over rather than answered for ever.
        return EventPage(found[:MOST], first_left_out)
    return EventPage(found[:kept], first_left_out + timedelta(microseconds=1))


def _time(body: bytes) -> datetime:
    return ENTITY_EVENTS.at(decode(body, EntityEventItem))
