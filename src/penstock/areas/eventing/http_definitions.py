"""Operations on event definitions."""

from uuid import UUID

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.definition_channels import DefinitionChannels
from penstock.areas.eventing.definitions import DefinitionService
from penstock.areas.eventing.model import ChannelDto, CloudEventDefinition, CloudEventDefinitionEntity
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class DefinitionOperations:
    """Definitions say which events there are, and what their data looks like."""

    def __init__(self, definitions: DefinitionService, channels: ChannelService, targets: DefinitionChannels) -> None:
        self._definitions = definitions
        self._channels = channels
        self._targets = targets

    @operation("GET", "/api/EventHub/EventDefinitions", Role.READER)
    async def definitions(self) -> list[CloudEventDefinition]:
        """List event definitions, newest first."""
        return await self._definitions.all()

    @operation("POST", "/api/EventHub/EventDefinitions", Role.OPERATOR)
    async def save_definition(
        self, definition: Body[CloudEventDefinition], actor: Actor, if_match: IfMatch
    ) -> CloudEventDefinition:
        """Make an event definition, or change the one with this Type, Source and SpecVersion.

        With a DataSchema, a JSON Schema, only events whose data meets it can be published. Documents that the schema
        refers to are not fetched.
        """
        return await self._definitions.save(definition, actor, if_match)

    @operation("DELETE", "/api/EventHub/EventDefinitions/{eventType}/{eventSource}/{eventSpec}", Role.OPERATOR)
    async def delete_definition(
        self, event_type: str, event_source: str, event_spec: str, actor: Actor, if_match: IfMatch
    ) -> str:
        """Delete an event definition. A slash in a part is written as %2F. Answers its type."""
        await self._definitions.delete(event_type, event_source, event_spec, actor, if_match)
        return event_type

    @operation("GET", "/api/EventHub/Admin/eventDefinitions", Role.READER)
    async def definition_entities(self) -> Encoded[list[CloudEventDefinitionEntity]]:
        """List event definitions, newest first."""
        return await self._definitions.entities()

    @operation("GET", "/api/EventHub/Admin/eventDefinitions/{id}", Role.READER)
    async def definition_entity(self, id: UUID) -> Encoded[CloudEventDefinitionEntity]:
        """Get an event definition."""
        return await self._definitions.read(id)

    @operation("GET", "/api/EventHub/Admin/eventDefinitions/{eventDefinitionId}/channels", Role.READER)
    async def channels_of_definition(self, event_definition_id: UUID) -> list[ChannelDto]:
        """List the channels that get such events, by name."""
        definition = await self._definitions.get(event_definition_id)
        return [channel.brief() for channel in await self._targets.channels_of(definition)]

    @operation("GET", "/api/EventHub/Admin/channels/{channelId}/eventDefinitions", Role.READER)
    async def definitions_of_channel(self, channel_id: UUID) -> list[CloudEventDefinitionEntity]:
        """List the definitions of the events that a channel gets, newest first."""
        return await self._targets.definitions_of(await self._channels.resource.get(channel_id))
