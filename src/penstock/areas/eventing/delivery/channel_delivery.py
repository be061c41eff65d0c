"""The delivery of one channel's events."""

import asyncio
from collections.abc import Sequence

import structlog

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.dead_letters import DeadLetters, endpoints_done
from penstock.areas.eventing.delivery.event_delivery import EventDelivery
from penstock.areas.eventing.delivery.partial import PartialDeliveries
from penstock.areas.eventing.delivery.pipeline_host import PipelineHost
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventing.delivery.progress import Progress, ProgressMemory
from penstock.areas.eventing.delivery.running_pipeline import Pipelines
from penstock.areas.eventing.stored import Channel
from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer, ConsumerSpec, Unprocessable
from penstock.bus.message import Delivered
from penstock.kernel.errors import Invalid, PenstockError, Unavailable
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import channel_stream

log = structlog.get_logger(__name__)

CONSUMER = "delivery"
_REMEMBERED = 1000
_REOPEN_SECONDS = 30.0


class DeliveryParts:
    """What the deliveries of all channels share."""

    def __init__(
        self,
        bus: Bus,
        channels: ChannelService,
        pipelines: Pipelines,
        dead_letters: DeadLetters,
        partial: PartialDeliveries,
        policy: DeliveryPolicy,
    ) -> None:
        self.bus = bus
        self.channels = channels
        self.pipelines = pipelines
        self.dead_letters = dead_letters
        self.partial = partial
        self.policy = policy


class ChannelDelivery:
    """Takes events from the channel's stream, one after the other unless the channel asks for parallel delivery.

    An event is acknowledged when every endpoint has it or it is among the dead letters. One that waits for its next
    try holds up those behind it, which keeps their order.
    """

    def __init__(self, channel: Channel, parts: DeliveryParts) -> None:
        self._channel = channel
        self._parts = parts
        self._memory = ProgressMemory(_REMEMBERED)
        self._host = PipelineHost(channel, parts.pipelines)
        self._at_once = asyncio.Semaphore(channel.options.parallel)

    def change(self, channel: Channel | None = None) -> None:
        """Uses the channel as it is now, or its variables. What waits for another try is tried at once."""
        self._channel = channel or self._channel
        self._host.change(self._channel)

    async def run(self) -> None:
        """Delivers until cancelled; what is in hand then goes to another replica."""
        policy, parallel = self._parts.policy, self._channel.options.parallel
        in_hand, patience = (1, 1) if parallel == 1 else (parallel * policy.in_hand, 3)
        spec = ConsumerSpec(
            stream=channel_stream(self._channel.name),
            name=CONSUMER,
            ack_seconds=policy.ack_seconds * patience,
            max_pending=in_hand,
            description="delivery to the channel's endpoints",
        )
        async with self._host:
            await Consumer(self._parts.bus, spec).run(self._deliver, concurrency=in_hand)

    async def _deliver(self, message: Delivered) -> None:
        progress = await self._progress(message)
        if progress is None:
            return
        try:
            event = CloudEvent.from_json(message.data)
        except Invalid as error:
            raise Unprocessable(f"it is no event: {error.detail}") from None
        delivery = EventDelivery(event, progress, self._parts.policy)
        while not await self._attempt(delivery, message, progress):
            pass
        failures = delivery.failures()
        if failures:
            await self._parts.dead_letters.put(self._channel.name, message, failures, delivery.delivered())
        self._memory.done(message)
        if progress.kept:
            await self._parts.partial.forget(self._channel.name, message)

    async def _progress(self, message: Delivered) -> Progress | None:
        """How far the event has come, here or with another replica before; None when it is done."""
        done = endpoints_done(message.headers)
        if message.tries == 1 or self._memory.knows(message):
            return self._memory.of(message, done)
        kept = await self._parts.partial.of(self._channel.name, message)
        progress = self._memory.of(message, [*done, *kept])
        if progress is not None:
            progress.kept = kept
        return progress

    async def _attempt(self, delivery: EventDelivery, message: Delivered, progress: Progress) -> bool:
        """Tries once; when that does not settle it, waits until the next try is due or the channel has changed."""
        changed = self._host.changed
        try:
            async with self._at_once, self._host.use() as pipeline:
                await delivery.attempt(pipeline)
        except PenstockError as error:
            log.error("channel cannot be delivered", channel=self._channel.name, reason=error.detail)
            wait: float | None = _REOPEN_SECONDS
        else:
            if delivery.gone is not None:
                await self._disable(delivery.gone.type, delivery.gone.position)
            elif delivery.settled:
                return True
            wait = delivery.next_in() if delivery.gone is None else None
            await self._keep(message, progress, delivery.delivered())
        if await _happens(changed, wait):
            delivery.hurry()
        return False

    async def _keep(self, message: Delivered, progress: Progress, delivered: Sequence[str]) -> None:
        if delivered == progress.kept or not delivered:
            return
        try:
            await self._parts.partial.keep(self._channel.name, message, delivered)
        except Unavailable:
            return  # whoever has the event after us calls these endpoints again
        progress.kept = delivered

    async def _disable(self, endpoint: str, position: int) -> None:
        """From here on the event waits, until whoever runs this learns of the change and stops it."""
        reason = f"the endpoint {endpoint} at position {position} answered that it is gone"
        log.warning("channel is disabled", channel=self._channel.name, reason=reason)
        await self._parts.channels.disable(self._channel.key, reason)


async def _happens(event: asyncio.Event, seconds: float | None) -> bool:
    """Whether it happens within so many seconds; None waits for ever."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
