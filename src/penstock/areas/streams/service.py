"""Reading of message streams."""

import re

from penstock.areas.streams.feed import events
from penstock.areas.streams.model import MessageFilter, StreamInfo, StreamMessage
from penstock.areas.streams.wire_form import info_of, message_of
from penstock.bus import streams as bus_streams
from penstock.bus.bus import Bus
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.kernel.errors import NotFound
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded, EventStream
from penstock.resource.area import Stopping
from penstock.resource.page import cut, page_size

# Streams that users know are named `<family>-<name>`, as `schedule-backup`. Others are the platform's own: reports of
# agents, due times, key-value buckets.
_SHOWN = re.compile(r"[a-z]+-[A-Za-z0-9][A-Za-z0-9._-]*")


class StreamService:
    """Lists streams and reads their messages; names are compared without case."""

    def __init__(self, bus: Bus, stopping: Stopping) -> None:
        self._bus = bus
        self._streams = Streams(bus)
        self._reader = StreamReader(bus)
        self._stopping = stopping

    async def all(self) -> list[StreamInfo]:
        """The streams that users know, by name."""
        return [info_of(info) for info in await self._streams.list() if _SHOWN.fullmatch(info.name)]

    async def messages(self, name: str, wanted: MessageFilter) -> Encoded[list[StreamMessage]]:
        """One page, newest first. Raises NotFound."""
        stream = await self._find(name)
        size = page_size(wanted.count)
        found = await self._reader.newest(
            stream.name, since=wanted.from_date, until=wanted.to_date, skip=wanted.skip, count=size + 1
        )
        page, next_skip = cut(found, size, wanted.skip)
        return Encoded(encode([message_of(message) for message in page]), next_skip=next_skip)

    async def follow(self, name: str, after: int | None) -> EventStream:
        """Messages as they come: after a sequence, else from the next new one on. Raises NotFound."""
        stream = await self._find(name)
        newest = stream.state.last_seq
        # A sequence that was never reached is of an earlier stream of this name: all of this one is new then.
        start = newest if after is None else after if after <= newest else 0
        return EventStream(events(self._bus, stream.name, start, self._stopping))

    async def _find(self, name: str) -> bus_streams.StreamInfo:
        if _SHOWN.fullmatch(name):
            try:
                return await self._streams.info(name)
            except NotFound:
                for info in await self._streams.list():
                    if name_key(info.name) == name_key(name) and _SHOWN.fullmatch(info.name):
                        return info
        raise NotFound.of("stream", name)
