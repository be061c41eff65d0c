"""The configuration kind EventSubscription."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.stored import CHANNELS, Channel, Subscription, id_of_name
from penstock.areas.eventing.subscriptions import SubscriptionService, Target, WantedSubscription
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.protocol.cloudevent import text_problem
from penstock.resource.event_patterns import ANY
from penstock.resource.kind import ConfigurationKind, Metadata, Need, Plan, Spec
from penstock.store.write import Require

_CHANNEL_KIND = "EventChannel"


class EventSubscriptionSpec(Spec):
    """Which events a channel gets."""

    channel: Annotated[str, msgspec.Meta(description="Name of the channel; it may be made by the same text.")]
    event_type: Annotated[str, msgspec.Meta(description="The events' type, or `*` for any.")] = ANY
    source: Annotated[str, msgspec.Meta(description="The events' source, or `*` for any.")] = ANY
    spec_version: Annotated[str, msgspec.Meta(description="The events' specversion, or `*` for any.")] = ANY


class EventSubscriptionKind(ConfigurationKind[EventSubscriptionSpec]):
    """A subscription: has events of a type, a source and a version delivered to a channel. A channel gets an event
    once, however many of its subscriptions match."""

    kind = "EventSubscription"
    spec = EventSubscriptionSpec

    def __init__(self, subscriptions: SubscriptionService, channels: ChannelService) -> None:
        self._subscriptions = subscriptions
        self._channels = channels

    async def plan(self, metadata: Metadata, spec: EventSubscriptionSpec, actor: Actor) -> Plan:
        errors = [*name_errors("metadata.name", metadata.name), *_spec_errors(spec)]
        if errors:
            raise Invalid(errors)
        before = await self._subscriptions.resource.find("name", metadata.name)
        channel = await self._channels.resource.find("name", spec.channel)
        wanted = WantedSubscription(
            spec.source,
            spec.event_type,
            spec.spec_version,
            before.name if before is not None else metadata.name,
            metadata.description,
        )
        after, writes = self._subscriptions.plan(_target(channel, spec.channel), wanted, before, actor)
        return Plan.of_put(
            _shown(before) if before is not None else None,
            _shown(after),
            [Require(CHANNELS, channel.key), *writes] if writes and channel is not None else writes,
            needs=() if channel is not None else [Need(_CHANNEL_KIND, spec.channel, "spec.channel")],
            finish=[partial(self._subscriptions.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        subscription = await self._subscriptions.resource.find("name", metadata.name)
        if subscription is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(subscription),
            writes=self._subscriptions.resource.plan_delete(subscription, actor),
            finish=[partial(self._subscriptions.announce, subscription)],
        )


def _target(channel: Channel | None, name: str) -> Target:
    return Target.of(channel) if channel is not None else Target(id_of_name(name), name, None)


def _spec_errors(spec: EventSubscriptionSpec) -> Sequence[FieldError]:
    texts = {"eventType": spec.event_type, "source": spec.source, "specVersion": spec.spec_version}
    errors = name_errors("spec.channel", spec.channel)
    return errors + [FieldError(f"spec.{name}", p) for name, text in texts.items() if (p := text_problem(text))]


def _shown(subscription: Subscription) -> EventSubscriptionSpec:
    return EventSubscriptionSpec(
        channel=subscription.channel_name,
        event_type=subscription.event_type,
        source=subscription.source,
        spec_version=subscription.spec_version,
    )
