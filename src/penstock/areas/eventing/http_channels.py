"""Operations on channels."""

from uuid import UUID

from penstock.areas.eventing.channel_forms import (
    HTTP_FIELDS,
    QUEUE_FIELDS,
    in_terms_of,
    of_http_channel,
    of_new_channel,
    of_queue_channel,
)
from penstock.areas.eventing.channels import ChannelService, WantedChannel
from penstock.areas.eventing.model import (
    ChannelDto,
    ChannelEntity,
    CloudServiceBusDto,
    EventChannelDtov2,
    HttpChannelDto,
    NewChannelDto,
)
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import Invalid
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class ChannelOperations:
    """Channels in the public set, in the admin set, and as configuration documents describe them."""

    def __init__(self, channels: ChannelService) -> None:
        self._channels = channels

    @operation("GET", "/api/EventHub/Channels", Role.READER)
    async def channels(self) -> list[ChannelDto]:
        """List channels, newest first."""
        return [channel.brief() for channel in await self._channels.resource.decoded()]

    @operation("POST", "/api/EventHub/Channels", Role.OPERATOR, status=201)
    async def create_channel(self, new: Body[NewChannelDto], actor: Actor) -> ChannelDto:
        """Make a channel and its stream `eventchannel-<name>`.

        Its components are applied to each event in the order of their Position, then all endpoints get what is left.
        Secrets in configurations are sealed; answers show a mask instead.
        """
        return await self._create(of_new_channel(new), actor)

    @operation("DELETE", "/api/EventHub/Channels", Role.OPERATOR)
    async def delete_channel(self, channel_name: str, actor: Actor, if_match: IfMatch) -> str:
        """Delete a channel with its subscriptions and its streams. Answers its name."""
        channel = await self._channels.resource.named(channel_name)
        await self._channels.remove(channel, actor, if_match)
        return channel.name

    @operation("POST", "/api/EventHub/Channels/http", Role.OPERATOR, status=201)
    async def create_http_channel(self, new: Body[HttpChannelDto], actor: Actor) -> ChannelDto:
        """Make a channel with one HTTP endpoint. ChannelId is its id; all zeros leaves it to the server."""
        wanted = of_http_channel(new)
        try:
            return await self._create(wanted, actor)
        except Invalid as error:
            raise in_terms_of(error, HTTP_FIELDS) from None

    @operation("POST", "/api/EventHub/Channels/{cloud}servicebus", Role.OPERATOR, status=201)
    async def create_queue_channel(self, cloud: str, new: Body[CloudServiceBusDto], actor: Actor) -> ChannelDto:
        """Make a channel with one endpoint, a queue behind AMQP 1.0.

        The path ends in `azureservicebus` or `cloudservicebus`. ChannelId is its id; all zeros leaves it to the server.
        """
        wanted = of_queue_channel(cloud, new)
        try:
            return await self._create(wanted, actor)
        except Invalid as error:
            raise in_terms_of(error, QUEUE_FIELDS) from None

    @operation("GET", "/api/EventHub/Admin/channels", Role.READER)
    async def channel_entities(self) -> list[ChannelEntity]:
        """List channels with their components and endpoints, newest first. Secrets are masked."""
        return [channel.shown() for channel in await self._channels.resource.decoded()]

    @operation("POST", "/api/EventHub/Admin/channels", Role.ADMIN, status=201)
    async def admin_create_channel(self, new: Body[NewChannelDto], actor: Actor) -> ChannelDto:
        """Make a channel, as in the public set."""
        return await self._create(of_new_channel(new), actor)

    @operation("GET", "/api/EventHub/Admin/channels/{id}", Role.READER)
    async def channel_entity(self, id: UUID) -> ChannelEntity:
        """Get a channel with its components and endpoints. Secrets are masked."""
        return (await self._channels.resource.get(id)).shown()

    @operation("DELETE", "/api/EventHub/Admin/channels/{id}", Role.ADMIN)
    async def admin_delete_channel(self, id: UUID, actor: Actor, if_match: IfMatch) -> str:
        """Delete a channel with its subscriptions and its streams. Answers its name."""
        channel = await self._channels.resource.get(id)
        await self._channels.remove(channel, actor, if_match)
        return channel.name

    @operation("GET", "/eventchannels/v2", Role.READER)
    async def described_channels(self) -> list[EventChannelDtov2]:
        """List channels as configuration documents describe them, newest first. Secrets are masked."""
        return [channel.described() for channel in await self._channels.resource.decoded()]

    @operation("GET", "/eventchannels/v2/{name}", Role.READER)
    async def described_channel(self, name: str) -> EventChannelDtov2:
        """Get a channel as its configuration document describes it. Its name is compared without case."""
        return (await self._channels.resource.named(name)).described()

    async def _create(self, wanted: WantedChannel, actor: Actor) -> ChannelDto:
        return (await self._channels.create(wanted, actor)).brief()
