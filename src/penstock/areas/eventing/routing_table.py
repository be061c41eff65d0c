"""What publishing and routing need to know of subscriptions, definitions and channels, held in memory."""

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.areas.eventing.compiled import Compiled
from penstock.areas.eventing.data_schema import DataSchema
from penstock.areas.eventing.model import CloudEventDefinitionEntity
from penstock.areas.eventing.routing_index import Pattern, RoutingIndex
from penstock.areas.eventing.stored import CHANNELS, DEFINITIONS, SUBSCRIPTIONS, Channel, Subscription
from penstock.kernel.names import name_key
from penstock.store.store import Store

Schemas = Mapping[Pattern, DataSchema]
"""Schemas of data by source, type and version."""


class RoutingTable:
    """Current on the replica that made a change; others hear of it within moments, see worker.TableRefresh."""

    def __init__(self, store: Store) -> None:
        self._index: Compiled[Subscription, tuple[Pattern, str], RoutingIndex] = Compiled(
            store, SUBSCRIPTIONS, lambda each: (each.pattern, each.channel_name), RoutingIndex
        )
        self._schemas: Compiled[CloudEventDefinitionEntity, tuple[Pattern, DataSchema | None], Schemas] = Compiled(
            store, DEFINITIONS, _schema, _with_schema
        )
        self._channels: Compiled[Channel, str, Mapping[str, str]] = Compiled(
            store, CHANNELS, lambda channel: channel.name, lambda names: {name_key(name): name for name in names}
        )

    async def index(self) -> RoutingIndex:
        return await self._index.current()

    async def schemas(self) -> Schemas:
        return await self._schemas.current()

    async def channels(self) -> Mapping[str, str]:
        """The names of all channels by the form that names are compared in."""
        return await self._channels.current()

    def invalidate(self, *collections: str) -> None:
        """Has what is made from these collections, or from all, made anew."""
        parts: dict[str, Compiled[Any, Any, Any]] = {
            SUBSCRIPTIONS.name: self._index,
            DEFINITIONS.name: self._schemas,
            CHANNELS.name: self._channels,
        }
        for name in collections or parts:
            parts[name].invalidate()


def _schema(definition: CloudEventDefinitionEntity) -> tuple[Pattern, DataSchema | None]:
    key = (definition.source or "", definition.type or "", definition.spec_version or "")
    return key, DataSchema(definition.data_schema) if definition.data_schema else None


def _with_schema(definitions: Iterable[tuple[Pattern, DataSchema | None]]) -> Schemas:
    return {key: schema for key, schema in definitions if schema is not None}
