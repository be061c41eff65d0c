"""Copies accepted events to the streams of their channels."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from penstock.areas.eventing.metrics import ROUTED, ROUTING_SECONDS
from penstock.areas.eventing.stored import CHANNELS
from penstock.areas.eventing.streams import EventStreams, channel_subject
from penstock.bus.batch import publish_batch
from penstock.bus.bus import Bus
from penstock.bus.message import Delivered, Message
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Unavailable
from penstock.protocol import event_streams
from penstock.store.store import Store

log = structlog.get_logger(__name__)

_AT_ONCE = 32
_MISSING_SECONDS = 2.0


class Router:
    """Keeps the order of acceptance in every channel's stream.

    Events that come again, after a fault, are stored once: a copy's message id is the event's place in the stream
    of accepted events.
    """

    def __init__(self, bus: Bus, store: Store, clock: Clock, streams: EventStreams) -> None:
        self._bus = bus
        self._store = store
        self._clock = clock
        self._streams = streams

    async def route(self, events: Sequence[Delivered]) -> None:
        """Returns once all channels have their copies; those that are removed get none. Raises Unavailable."""
        copies = copies_by_channel(events)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def store(channel: str, messages: Sequence[Message]) -> None:
            async with gate:
                await self._store_copies(channel, messages)

        try:
            async with asyncio.TaskGroup() as group:
                for channel, messages in copies.items():
                    group.create_task(store(channel, messages))
        except* Unavailable as errors:
            raise Unavailable(str(errors.exceptions[0])) from None
        now = self._clock.now()
        for event in events:
            ROUTING_SECONDS.observe(max((now - event.time).total_seconds(), 0.0))

    async def _store_copies(self, channel: str, messages: Sequence[Message]) -> None:
        try:
            await publish_batch(self._bus, messages, timeout=_MISSING_SECONDS)
        except Unavailable:
            if await self._store.find(CHANNELS, "name", channel) is None:
                log.info("events of a removed channel dropped", channel=channel, count=len(messages))
                return
            await self._streams.ensure(channel)  # perhaps somebody deleted it
            await publish_batch(self._bus, messages)
        ROUTED.inc(len(messages))


def copies_by_channel(events: Sequence[Delivered]) -> Mapping[str, Sequence[Message]]:
    """For each channel the messages of its stream, in the order of the events."""
    copies: dict[str, list[Message]] = {}
    for event in events:
        origin = str(event.sequence)
        for channel in target_channels(event.headers):
            copies.setdefault(channel, []).append(
                Message(
                    subject=channel_subject(channel),
                    body=event.data,
                    headers={event_streams.ORIGIN: origin},
                    message_id=f"event-{origin}",
                )
            )
    return copies


def target_channels(headers: Mapping[str, str]) -> Sequence[str]:
    """The channels that an accepted event goes to."""
    names = headers.get(event_streams.CHANNELS, "")
    return names.split(",") if names else ()
