"""How the delivery of channels goes."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.channel_delivery import CONSUMER
from penstock.areas.eventing.stored import Channel
from penstock.bus.bus import Bus
from penstock.bus.consumer import ConsumerSpec
from penstock.bus.streams import Streams
from penstock.kernel.actor import Actor
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import Int64, Wire
from penstock.protocol.event_streams import channel_stream, dead_letter_stream


class DeliveryState(Wire):
    """How the delivery of a channel goes.

    Waiting: events not yet begun. InHand: those being tried, or waiting for their next try. DeadLetters: how many could
    not be delivered. DisabledSince, DisabledReason: set while the channel is not delivered.
    """

    channel: str
    waiting: Int64
    in_hand: Int64
    dead_letters: Int64
    disabled_since: datetime | None = None
    disabled_reason: str | None = None


class _ConsumerInfo(msgspec.Struct):
    num_pending: int = 0
    num_ack_pending: int = 0


class DeliveryStates:
    """Reads them from the bus: they are the same whichever replica is asked."""

    def __init__(self, bus: Bus, channels: ChannelService) -> None:
        self._bus = bus
        self._channels = channels
        self._streams = Streams(bus)

    async def all(self) -> Sequence[DeliveryState]:
        """By channel name."""
        channels = await self._channels.resource.decoded()
        return [await self._state(channel) for channel in sorted(channels, key=lambda channel: channel.name)]

    async def of(self, name: str) -> DeliveryState:
        """Raises NotFound."""
        return await self._state(await self._channels.resource.named(name))

    async def enable(self, name: str, actor: Actor) -> DeliveryState:
        """Has the channel delivered again. Raises NotFound."""
        channel = await self._channels.resource.named(name)
        return await self._state(await self._channels.enable(channel.key, actor))

    async def _state(self, channel: Channel) -> DeliveryState:
        consumer = await self._consumer(channel.name)
        return DeliveryState(
            channel=channel.name,
            waiting=consumer.num_pending,
            in_hand=consumer.num_ack_pending,
            dead_letters=await self._messages(dead_letter_stream(channel.name)),
            disabled_since=channel.disabled_since,
            disabled_reason=channel.disabled_reason,
        )

    async def _consumer(self, channel: str) -> _ConsumerInfo:
        spec = ConsumerSpec(stream=channel_stream(channel), name=CONSUMER)
        try:
            return await self._bus.api(f"CONSUMER.INFO.{spec.path}", None, _ConsumerInfo)
        except NotFound:  # delivery has not begun
            return _ConsumerInfo(num_pending=await self._messages(spec.stream))

    async def _messages(self, stream: str) -> int:
        try:
            return (await self._streams.info(stream)).messages
        except NotFound:
            return 0
