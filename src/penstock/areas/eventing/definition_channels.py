"""Which channels get the events of a definition, and the other way round."""

from collections.abc import Sequence

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.definitions import DefinitionService
from penstock.areas.eventing.model import CloudEventDefinitionEntity
from penstock.areas.eventing.routing_table import Routes, RoutingTable
from penstock.areas.eventing.stored import Channel


class DefinitionChannels:
    """Answers from the subscriptions."""

    def __init__(self, table: RoutingTable, channels: ChannelService, definitions: DefinitionService) -> None:
        self._table = table
        self._channels = channels
        self._definitions = definitions

    async def channels_of(self, definition: CloudEventDefinitionEntity) -> list[Channel]:
        """By name."""
        names = set(_targets(await self._table.routes(), definition))
        channels = await self._channels.resource.decoded()
        return sorted((each for each in channels if each.name in names), key=lambda channel: channel.name)

    async def definitions_of(self, channel: Channel) -> list[CloudEventDefinitionEntity]:
        """Newest first."""
        routes = await self._table.routes()
        return [each for each in await self._definitions.decoded() if channel.name in _targets(routes, each)]


def _targets(routes: Routes, definition: CloudEventDefinitionEntity) -> Sequence[str]:
    return routes.channels(definition.source or "", definition.type or "", definition.spec_version or "")
