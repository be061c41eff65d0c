"""The entity events that say whether an agent matches a flow."""

import msgspec

from penstock.resource.audit import ENTITY_EVENTS
from penstock.store.store import Store, decode
from tests.application import Application


async def coverage_events(application: Application, name: str) -> list[tuple[str, str]]:
    """Kind and message of the entity events that say whether an agent matches, oldest first."""
    bodies = await application.platform.container.get(Store).entries(ENTITY_EVENTS, limit=10_000, oldest_first=True)
    events = [decode(body, ENTITY_EVENTS.type) for body in bodies]
    mine = [event for event in events if event.subject == f"schedule-{name}"]
    return [
        (event.event_type or "", msgspec.json.decode(event.content or "")["After"]["Message"])
        for event in mine
        if event.event_type in ("flows.unmatched", "flows.matched")
    ]
