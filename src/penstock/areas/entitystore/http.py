"""Operations on the entity store."""

from datetime import datetime

from penstock.areas.entitystore.model import (
    EntityStoreDto,
    EntityStoreInfo,
    EntityStoreSearchResults,
    KeyValuePairOfStringAndString,
)
from penstock.areas.entitystore.service import EntityStore
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.page import PageSize
from penstock.resource.parameter import Body, IfMatch


class EntityStoreHandlers:
    """Types and ids are any text and compared exactly."""

    def __init__(self, entities: EntityStore) -> None:
        self._entities = entities

    @operation("GET", "/integrations/entitystore", Role.READER)
    async def get_entity(self, entity_type: str, entity_id: str) -> Encoded[KeyValuePairOfStringAndString]:
        """Read the latest value of an entity; the ETag is its revision."""
        return await self._entities.read(entity_type, entity_id)

    @operation("GET", "/integrations/entitystore/search", Role.READER)
    async def search_entities(
        self, entity_type: str, entity_id: str, limit: PageSize, from_date: datetime, include_history: bool
    ) -> EntityStoreSearchResults:
        """Search entities that were stored at fromDate or later, newest first.

        In entityType and entityId `*` stands for any characters. Each entity comes once with its latest value;
        with includeHistory every value that is kept comes by itself.
        """
        return await self._entities.search(
            entity_type, entity_id, limit=limit, since=from_date, history=include_history
        )

    @operation("GET", "/integrations/entitystore/info", Role.READER)
    async def entity_store_info(self) -> EntityStoreInfo:
        """How many entities there are, how much they take and what is kept."""
        return await self._entities.info()

    @operation("PUT", "/integrations/entitystore", Role.OPERATOR, beyond=True)
    async def put_entity(
        self, entity: Body[EntityStoreDto], actor: Actor, if_match: IfMatch
    ) -> Encoded[KeyValuePairOfStringAndString]:
        """Store a value of an entity; the last 10 are kept.

        With If-Match only when the revision is still the latest.
        """
        return await self._entities.write(entity, actor, if_match)

    @operation("DELETE", "/integrations/entitystore", Role.OPERATOR, beyond=True)
    async def delete_entity(self, entity_type: str, entity_id: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove an entity and its history."""
        await self._entities.erase(entity_type, entity_id, actor, if_match)
        return File()
