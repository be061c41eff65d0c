"""The entity event store: who changed what, from what to what. It is also the audit log."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from penstock.kernel.actor import Actor
from penstock.kernel.entity import Entity
from penstock.kernel.wire import encode
from penstock.store.definition import Column, Journal
from penstock.store.write import Append


class EntityEventItem(Entity):
    """One change of an entity.

    event_type: `<entity type>.created`, `.updated`, `.deleted`, or an act such as `variables.revealed`.
    content: JSON object with `Before` and `After`, secrets left out.
    subject: the entity's name; source: who acted.
    """

    event_type: str | None = None
    entity_id: str | None = None
    entity_type: str | None = None
    content: str | None = None
    subject: str | None = None
    source: str | None = None


ENTITY_EVENTS: Journal[EntityEventItem] = Journal(
    name="entity_events",
    type=EntityEventItem,
    at=lambda item: item.created_date,
    key=lambda item: str(item.id),
    columns=(Column("entity_id", lambda item: item.entity_id),),
)


def audit(
    act: str,
    entity_type: str,
    entity_id: UUID | str,
    *,
    actor: Actor,
    at: datetime,
    subject: str | None = None,
    before: Any = None,
    after: Any = None,
) -> Append:
    """The write that records one act on one entity; commit it together with the change itself.

    before, after: Structs or encoded JSON (bytes) without secrets.
    """
    content = {"Before": _raw(before), "After": _raw(after)}
    item = EntityEventItem(
        event_type=f"{entity_type}.{act}",
        entity_id=str(entity_id),
        entity_type=entity_type,
        content=encode(content).decode(),
        subject=subject,
        source=actor.name,
    )
    return Append(ENTITY_EVENTS, [item.created(actor, at)])


def _raw(value: Any) -> Any:
    return msgspec.Raw(value) if isinstance(value, bytes) else value
