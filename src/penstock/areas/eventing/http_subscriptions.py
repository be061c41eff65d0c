"""Operations on subscriptions."""

from uuid import UUID

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.model import (
    ChannelSubsriptionsDto,
    EventSubscriptionDtov2,
    SubscriptionDto,
    SubscriptionEntity,
)
from penstock.areas.eventing.subscriptions import SubscriptionService, WantedSubscription
from penstock.kernel.actor import Actor, Role
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class SubscriptionOperations:
    """Subscriptions. Source, EventType and SpecVersion each match exactly or, when `*`, anything.

    A channel gets an event once, however many of its subscriptions match.
    """

    def __init__(self, subscriptions: SubscriptionService, channels: ChannelService) -> None:
        self._subscriptions = subscriptions
        self._channels = channels.resource

    @operation("GET", "/api/EventHub/Subscriptions", Role.READER)
    async def subscriptions(self) -> list[ChannelSubsriptionsDto]:
        """List channels with their subscriptions, each as type, source and version with blanks between them."""
        return await self._subscriptions.by_channel()

    @operation("POST", "/api/EventHub/Subscriptions", Role.OPERATOR, status=201)
    async def subscribe(self, new: Body[SubscriptionDto], actor: Actor) -> SubscriptionDto:
        """Subscribe a channel to events. What is omitted is `*`, any.

        Events published after the answer are routed by it; other servers learn of it within moments.
        """
        channel = await self._channels.named(new.channel_name)
        made = await self._subscriptions.create(channel, _wanted(new), actor)
        return SubscriptionDto(
            channel_name=made.channel_name,
            source=made.source,
            event_type=made.event_type,
            spec_version=made.spec_version,
        )

    @operation("DELETE", "/api/EventHub/Subscriptions", Role.OPERATOR)
    async def unsubscribe(self, gone: Body[SubscriptionDto], actor: Actor, if_match: IfMatch) -> str:
        """Delete the subscription that has exactly this channel, source, type and version. Answers its id."""
        channel = await self._channels.named(gone.channel_name)
        subscription = await self._subscriptions.find(channel, _wanted(gone))
        await self._subscriptions.delete(subscription, actor, if_match)
        return str(subscription.key)

    @operation("GET", "/api/EventHub/Admin/subscriptions", Role.READER)
    async def subscription_entities(self) -> list[SubscriptionEntity]:
        """List subscriptions, newest first."""
        return [each.shown() for each in await self._subscriptions.resource.decoded()]

    @operation("POST", "/api/EventHub/Admin/subscriptions", Role.ADMIN, status=201)
    async def admin_subscribe(
        self, channel_id: UUID, source: str, event_type: str, spec_version: str, actor: Actor
    ) -> SubscriptionEntity:
        """Subscribe a channel to events. `*` is any."""
        channel = await self._channels.get(channel_id)
        wanted = WantedSubscription(source, event_type, spec_version)
        return (await self._subscriptions.create(channel, wanted, actor)).shown()

    @operation("DELETE", "/api/EventHub/Admin/subscriptions", Role.ADMIN)
    async def admin_unsubscribe(self, subscription_id: UUID, actor: Actor, if_match: IfMatch) -> str:
        """Delete a subscription. Answers its id."""
        subscription = await self._subscriptions.resource.get(subscription_id)
        await self._subscriptions.delete(subscription, actor, if_match)
        return str(subscription.key)

    @operation("GET", "/api/EventHub/Admin/subscriptions/{id}", Role.READER)
    async def subscription_entity(self, id: UUID) -> SubscriptionEntity:
        """Get a subscription."""
        return (await self._subscriptions.resource.get(id)).shown()

    @operation("GET", "/eventsubscriptions/v2", Role.READER)
    async def described_subscriptions(self) -> list[EventSubscriptionDtov2]:
        """List subscriptions, newest first. Those without a configuration document are named by their ids."""
        return [each.described() for each in await self._subscriptions.resource.decoded()]

    @operation("GET", "/eventsubscriptions/v2/{name}", Role.READER)
    async def described_subscription(self, name: str) -> EventSubscriptionDtov2:
        """Get a subscription by its name, compared without case, or by its id."""
        return (await self._subscriptions.named(name)).described()


def _wanted(subscription: SubscriptionDto) -> WantedSubscription:
    return WantedSubscription(subscription.source, subscription.event_type, subscription.spec_version)
