"""The dead letters of channels: kept in a stream each, listed, delivered anew, discarded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

import msgspec
import structlog

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.dead_letter import (
    DeadLetter,
    DeadLetterQueue,
    DeliveryFailure,
    StoredDeadLetter,
)
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventing.streams import channel_subject
from penstock.bus.batch import publish_batch
from penstock.bus.bus import Bus
from penstock.bus.message import Delivered, Message, StoredMessage, time_of
from penstock.bus.naming import stream_key
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import NotFound
from penstock.protocol.event_streams import ORIGIN, dead_letter_stream, subject_of

log = structlog.get_logger(__name__)

_PREFIX = dead_letter_stream("")
_DONE = "Penstock-Delivered"
_PAGE = 500


def endpoints_done(headers: Mapping[str, str]) -> Sequence[str]:
    """Keys of the endpoints that had an event before it became a dead letter, as its replay tells."""
    return [key for key in headers.get(_DONE, "").split(",") if key]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Which dead letters: from one sequence to another and from one time to another, all bounds included."""

    first: int = 1
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def holds(self, message: StoredMessage) -> bool:
        return (
            message.sequence >= self.first
            and (self.last is None or message.sequence <= self.last)
            and (self.since is None or message.time >= self.since)
            and (self.until is None or message.time <= self.until)
        )


class DeadLetters:
    """One stream for each channel that has any."""

    def __init__(self, bus: Bus, channels: ChannelService, policy: DeliveryPolicy) -> None:
        self._bus = bus
        self._channels = channels
        self._policy = policy
        self._streams = Streams(bus)
        self._reader = StreamReader(bus)

    async def put(
        self, channel: str, message: Delivered, failures: list[DeliveryFailure], delivered: list[str]
    ) -> None:
        """Keeps an event that was given up; the same message again is kept once. Raises Unavailable."""
        await self._make(channel)
        letter = StoredDeadLetter.of(message, failures, delivered)
        await self._bus.publish(
            _subject(channel), letter.encode(), message_id=f"{message.sequence}@{message.time.timestamp()}"
        )
        log.warning("event is a dead letter", channel=channel, sequence=message.sequence, reason=failures[0].error)

    async def queues(self) -> list[DeadLetterQueue]:
        """Those of channels that have dead letters, by name."""
        return [
            DeadLetterQueue(
                channel=info.name.removeprefix(_PREFIX), count=info.messages, oldest=time_of(info.state.first_ts)
            )
            for info in await self._streams.list()
            if info.name.startswith(_PREFIX) and info.messages
        ]

    async def newest(
        self, channel: str, *, since: datetime | None, until: datetime | None, skip: int, count: int
    ) -> list[DeadLetter]:
        """Newest first. Raises NotFound without the channel."""
        name = await self._name(channel)
        try:
            found = await self._reader.newest(
                dead_letter_stream(name), since=since, until=until, skip=skip, count=count
            )
        except NotFound:
            return []  # it never had one
        return [StoredDeadLetter.read(message).shown(name, message, whole=False) for message in found]

    async def get(self, channel: str, sequence: int) -> DeadLetter:
        """Raises NotFound."""
        name = await self._name(channel)
        message = await self._message(name, sequence)
        return StoredDeadLetter.read(message).shown(name, message, whole=True)

    async def replay(self, channel: str, span: Span, most: int) -> int:
        """Gives the oldest `most` of them back to the channel, which delivers them to the endpoints that lack them.

        Returns how many. One that a fault interrupts is replayed twice rather than lost. Raises NotFound without the
        channel.
        """
        name = await self._name(channel)

        async def publish(messages: Sequence[StoredMessage]) -> None:
            await publish_batch(self._bus, [_again(name, message) for message in messages])

        return await self._take_out(name, span, most, publish)

    async def discard(self, channel: str, span: Span, most: int) -> int:
        """Forgets the oldest `most` of them. Returns how many. Raises NotFound without the channel."""
        return await self._take_out(await self._name(channel), span, most)

    async def one(self, channel: str, sequence: int) -> Span:
        """The span of a single dead letter. Raises NotFound when there is none."""
        await self._message(await self._name(channel), sequence)
        return Span(first=sequence, last=sequence)

    async def _take_out(
        self,
        name: str,
        span: Span,
        most: int,
        before: Callable[[Sequence[StoredMessage]], Awaitable[None]] | None = None,
    ) -> int:
        """Removes them, after `before` had them. What becomes a dead letter meanwhile stays."""
        newest = await self._newest(name)
        span = msgspec.structs.replace(span, last=newest if span.last is None else min(span.last, newest))
        done = 0
        while page := await self._oldest(name, span, min(most - done, _PAGE)):
            if before is not None:
                await before(page)
            for message in page:
                await self._streams.delete_message(dead_letter_stream(name), message.sequence)
            done += len(page)
        return done

    async def _newest(self, name: str) -> int:
        try:
            return (await self._streams.info(dead_letter_stream(name))).state.last_seq
        except NotFound:
            return 0

    async def _oldest(self, name: str, span: Span, most: int) -> list[StoredMessage]:
        if most <= 0:
            return []
        stream = dead_letter_stream(name)
        try:
            begin = await self._reader.first_since(stream, span.since) if span.since else 1
            found = await self._reader.after(stream, max(span.first, begin or 0) - 1, count=most) if begin else []
        except NotFound:
            return []
        return [message for message in found if span.holds(message)]

    async def _message(self, name: str, sequence: int) -> StoredMessage:
        for message in await self._oldest(name, Span(first=sequence, last=sequence), 1):
            return message
        raise NotFound.of("dead letter", sequence)

    async def _name(self, channel: str) -> str:
        """The channel's name as it is written."""
        return (await self._channels.resource.named(channel)).name

    async def _make(self, channel: str) -> None:
        await self._streams.ensure(
            StreamSpec(
                name=dead_letter_stream(channel),
                subjects=[_subject(channel)],
                description=f"events that the channel {channel} could not deliver",
                max_age=self._policy.dead_letter_age,
            )
        )


def _subject(channel: str) -> str:
    return subject_of(stream_key(dead_letter_stream(channel)))


def _again(channel: str, message: StoredMessage) -> Message:
    letter = StoredDeadLetter.read(message)
    return Message(
        subject=channel_subject(channel),
        body=bytes(letter.event),
        headers={ORIGIN: letter.origin, _DONE: ",".join(letter.delivered)},
        message_id=f"deadletter-{message.sequence}@{message.time.timestamp()}",
    )
