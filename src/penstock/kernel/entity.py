"""The base of stored resources (specification 1, "Entity base fields")."""

from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

import msgspec

from penstock.kernel.actor import Actor
from penstock.kernel.ids import new_e_tag, new_id
from penstock.kernel.wire import Int32, Wire

NEVER = datetime.min.replace(tzinfo=UTC)
"""Stands for the time of what has not happened; no stored entity has it."""


class Entity(Wire):
    """The fields that every stored resource begins with.

    In a request only Id and ETag have effect. TimeToLive is seconds since the last write;
    an expired entity is gone from every read.
    """

    id: UUID | None = None
    e_tag: str | None = None
    created_by: str | None = None
    created_date: datetime = NEVER
    updated_by: str | None = None
    update_date: datetime | None = None
    time_to_live: Int32 | None = None
    is_deleted: bool = False

    @property
    def key(self) -> UUID:
        """The id of an entity that has been stored."""
        if self.id is None:
            raise ValueError("the entity has no id yet")
        return self.id

    @property
    def base(self) -> dict[str, Any]:
        """The entity base fields, for another form of the same resource."""
        return {field: getattr(self, field) for field in Entity.__struct_fields__}

    def created(self, actor: Actor, now: datetime) -> Self:
        """A copy stamped as new; an id that was given is kept."""
        return msgspec.structs.replace(
            self,
            id=self.id or new_id(),
            e_tag=new_e_tag(),
            created_by=actor.name,
            created_date=now,
            updated_by=actor.name,
            update_date=now,
            is_deleted=False,
        )

    def changed(self, before: "Entity", actor: Actor, now: datetime) -> Self:
        """A copy stamped as the successor of `before`."""
        return msgspec.structs.replace(
            self,
            id=before.id,
            e_tag=new_e_tag(),
            created_by=before.created_by,
            created_date=before.created_date,
            updated_by=actor.name,
            update_date=now,
            is_deleted=False,
        )
