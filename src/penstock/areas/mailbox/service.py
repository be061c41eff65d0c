"""What is done with mailboxes: opened for a user, emptied by them, removed with their channel."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import structlog

from penstock.areas.mailbox.model import MAILBOX_QUEUES, MailboxQueue
from penstock.bus.bus import Bus
from penstock.bus.queue import Queue, Taken
from penstock.bus.streams import Streams
from penstock.connectors.endpoints.mailbox import MailboxEndpoint
from penstock.connectors.mailbox import KEEP, PREFIX, mailbox_stream
from penstock.kernel.actor import SYSTEM, Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NameTaken, NotFound
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.channels import Channels, KnownChannel
from penstock.resource.resource import Resource
from penstock.store.store import Store, Where

log = structlog.get_logger(__name__)

MOST = 100
"""Messages in one answer."""
_ACK_SECONDS = 60.0
# A mailbox that is young may belong to a channel that is being made right now.
_ORPHAN_AFTER = timedelta(minutes=10)


class Mailboxes:
    """Each user has a queue per channel, on the stream that the channel's endpoint `mailbox` fills."""

    def __init__(self, bus: Bus, store: Store, changes: Changes, clock: Clock, channels: Channels) -> None:
        self._bus = bus
        self._streams = Streams(bus)
        self._queues = Resource(MAILBOX_QUEUES, store, changes, clock, kind="mailbox", label="channel")
        self._clock = clock
        self._channels = channels

    async def open(self, channel_name: str, actor: Actor) -> str:
        """Opens the user's queue when it is not open yet; returns the name of its stream.

        Raises NotFound without the channel, Invalid when it has no endpoint that fills the mailbox.
        """
        channel = await self._channels.named(channel_name)
        if channel is None:
            raise NotFound.of("channel", channel_name)
        if MailboxEndpoint.identifier not in channel.endpoints:
            reason = "has no endpoint of type mailbox, so that nothing would ever arrive; give the channel one first"
            raise Invalid.one("channelName", reason)
        await self._streams.ensure(mailbox_stream(channel.name))
        queue = MailboxQueue(user=actor.name, channel=channel.name, channel_id=channel.id)
        await self._on_bus(queue).make("new")
        try:
            await self._queues.create(queue, actor)
        except NameTaken:
            log.debug("mailbox was open already", user=actor.name, channel=channel.name)
        return PREFIX + channel.name

    async def take(self, actor: Actor) -> Encoded[list[str]]:
        """Up to 100 messages from the user's queues, which are gone from there once the answer has been given.

        Raises Invalid when the user has opened none.
        """
        queues = await self._queues.decoded([Where("user", "=", actor.name)])
        if not queues:
            raise Invalid.one("", "no mailbox is initialized")
        hands = await self._take_fairly(queues)

        async def settle(given: bool) -> None:
            for hand in hands:
                await (hand.acknowledge() if given else hand.give_back())

        texts = [message.data.decode(errors="replace") for hand in hands for message in hand.messages]
        return Encoded(encode(texts), done=settle)

    async def sweep(self) -> None:
        """Removes the mailboxes of channels that are gone."""
        for queue in await self._queues.decoded():
            await self._channel_of(queue)
        for info in await self._streams.list():
            if not info.name.startswith(PREFIX) or self._clock.now() - info.created_at < _ORPHAN_AFTER:
                continue
            if await self._channels.named(info.name.removeprefix(PREFIX)) is None:
                log.info("mailbox without a channel is deleted", stream=info.name)
                await self._streams.delete(info.name)

    async def _take_fairly(self, queues: Sequence[MailboxQueue]) -> list[Taken]:
        """From each queue its share, then what is left from those that have more."""
        hands: list[Taken] = []
        left = MOST
        async with AsyncExitStack() as unsettled:
            for share in (max(MOST // len(queues), 1), MOST):
                fuller = []
                for queue in queues:
                    most = min(share, left)
                    hand = await self._take_from(queue, most) if most else None
                    if hand is None:
                        continue
                    unsettled.push_async_callback(hand.give_back)
                    hands.append(hand)
                    left -= len(hand.messages)
                    if len(hand.messages) == most:
                        fuller.append(queue)
                queues = fuller
            unsettled.pop_all()
        return hands

    async def _take_from(self, queue: MailboxQueue, most: int) -> Taken | None:
        channel = await self._channel_of(queue)
        if channel is None:
            return None
        on_bus = self._on_bus(queue)
        try:
            return await on_bus.take(most)
        except NotFound:
            # Forgotten for want of use, or lost with its stream: all that the stream has come after that.
            await self._streams.ensure(mailbox_stream(channel.name))
            await on_bus.make("all")
            return await on_bus.take(most)

    async def _channel_of(self, queue: MailboxQueue) -> KnownChannel | None:
        """The queue's channel; without it the queue goes, and is not another channel's of that name."""
        channel = await self._channels.named(queue.channel)
        if channel is not None and channel.id == queue.channel_id:
            return channel
        try:
            await self._queues.delete(queue, SYSTEM)
        except NotFound:
            log.debug("mailbox was removed meanwhile", channel=queue.channel)
        return None

    def _on_bus(self, queue: MailboxQueue) -> Queue:
        return Queue(
            self._bus,
            PREFIX + queue.channel,
            queue.reader,
            forget_after=KEEP,
            ack_seconds=_ACK_SECONDS,
            description=f"mailbox of {queue.user}",
        )
