"""What publishing and routing need to know of subscriptions, definitions and channels, held in memory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.areas.eventing.data_schema import DataSchema
from penstock.areas.eventing.model import CloudEventDefinitionEntity
from penstock.areas.eventing.stored import CHANNELS, DEFINITIONS, SUBSCRIPTIONS, Channel, Subscription
from penstock.kernel.errors import NotFound
from penstock.kernel.names import name_key
from penstock.resource.compiled import Compiled
from penstock.resource.event_patterns import Pattern, PatternIndex
from penstock.store.store import Store

Schemas = Mapping[Pattern, DataSchema]
"""Schemas of data by source, type and version."""

_MOST_REMEMBERED = 50_000  # lookups and the names that they found


class ChannelNames:
    """The names of the channels that exist, by id and by the form that names are compared in."""

    def __init__(self, channels: Iterable[tuple[str, str]]) -> None:
        """channels: ids and names."""
        self.by_id = dict(channels)
        self.by_key = {name_key(name): name for name in self.by_id.values()}


class Routes:
    """Which channels events go to; what was looked up once is remembered."""

    def __init__(self, index: PatternIndex, names: ChannelNames) -> None:
        """index: of the ids of channels."""
        self.made_from = (index, names)
        self._known: dict[Pattern, Sequence[str]] = {}
        self._remembered = 0

    def channels(self, source: str, type: str, version: str) -> Sequence[str]:
        """The names of the channels that subscribe to such events, in order."""
        event = (source, type, version)
        channels = self._known.get(event)
        if channels is None:
            channels = self._found(event)
            self._remember(event, channels)
        return channels

    def _remember(self, event: Pattern, channels: Sequence[str]) -> None:
        if self._remembered > _MOST_REMEMBERED:
            self._known.clear()
            self._remembered = 0
        self._known[event] = channels
        self._remembered += 1 + len(channels)

    def _found(self, event: Pattern) -> Sequence[str]:
        index, names = self.made_from
        return tuple(sorted(names.by_id[id] for id in index.asking(*event) if id in names.by_id))


class RoutingTable:
    """Current on the replica that made a change; others hear of it within moments, see worker.TableRefresh."""

    def __init__(self, store: Store) -> None:
        self._index: Compiled[Subscription, tuple[Pattern, str], PatternIndex] = Compiled(
            store, SUBSCRIPTIONS, lambda each: (each.pattern, str(each.channel_id)), PatternIndex
        )
        self._schemas: Compiled[CloudEventDefinitionEntity, tuple[Pattern, DataSchema | None], Schemas] = Compiled(
            store, DEFINITIONS, _schema, _with_schema
        )
        self._names: Compiled[Channel, tuple[str, str], ChannelNames] = Compiled(
            store, CHANNELS, lambda channel: (str(channel.key), channel.name), ChannelNames
        )
        self._routes = Routes(PatternIndex(()), ChannelNames(()))

    async def routes(self) -> Routes:
        made_from = (await self._index.current(), await self._names.current())
        if self._routes.made_from != made_from:
            self._routes = Routes(*made_from)
        return self._routes

    async def schemas(self) -> Schemas:
        return await self._schemas.current()

    async def named(self, channels: Iterable[str]) -> list[str]:
        """The names as the channels are written, in order. Raises NotFound for one that does not exist."""
        known = {name_key(name): name for name in ((await self._names.current()).by_id).values()}
        try:
            return sorted({known[name_key(channel)] for channel in channels})
        except KeyError as missing:
            raise NotFound.of("channel", missing.args[0]) from None

    def invalidate(self, *collections: str) -> None:
        """Has what is made from these collections, or from all, made anew."""
        parts: dict[str, Compiled[Any, Any, Any]] = {
            SUBSCRIPTIONS.name: self._index,
            DEFINITIONS.name: self._schemas,
            CHANNELS.name: self._names,
        }
        for name in collections or parts:
            parts[name].invalidate()


def _schema(definition: CloudEventDefinitionEntity) -> tuple[Pattern, DataSchema | None]:
    key = (definition.source or "", definition.type or "", definition.spec_version or "")
    return key, DataSchema(definition.data_schema) if definition.data_schema else None


def _with_schema(definitions: Iterable[tuple[Pattern, DataSchema | None]]) -> Schemas:
    return {key: schema for key, schema in definitions if schema is not None}
