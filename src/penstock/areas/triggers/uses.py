"""What runs an action or a notebook."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from penstock.areas.triggers.stored import (
    EVENT_TRIGGERS,
    NOTEBOOK_ENDPOINTS,
    NOTEBOOK_SCHEDULES,
    SCHEDULE_TRIGGERS,
    WEB_TRIGGERS,
)
from penstock.resource.page import MOST
from penstock.store.definition import Collection
from penstock.store.store import Store, Where, decode

_USERS: Sequence[tuple[str, Collection[Any]]] = (
    ("event trigger", EVENT_TRIGGERS),
    ("schedule trigger", SCHEDULE_TRIGGERS),
    ("web trigger", WEB_TRIGGERS),
    ("notebook endpoint", NOTEBOOK_ENDPOINTS),
    ("notebook schedule", NOTEBOOK_SCHEDULES),
)


class TriggerUses:
    """See resource.ports.scripts.ScriptUses."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def users(self, script_id: UUID) -> Sequence[str]:
        """See resource.ports.scripts.ScriptUses."""
        users: list[str] = []
        for kind, collection in _USERS:
            found = await self._store.list(collection, [Where("script", "=", str(script_id))], limit=MOST)
            entities = [decode(document.body, collection.type) for document in found]
            users += [f"the {kind} '{entity.name or entity.key}'" for entity in entities]
        return users
