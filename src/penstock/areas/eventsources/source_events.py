"""Publishing what event sources found: each event once, however often it is reported."""

from collections.abc import Sequence

import structlog

from penstock.areas.eventsources.metrics import PUBLISHED, REPEATED
from penstock.areas.eventsources.stored import TAKEN_EVENTS, TakenEvent
from penstock.areas.eventsources.streams import SourceStreams, stream_of
from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, Unavailable
from penstock.protocol.cloudevent import CloudEvent
from penstock.resource.owned_streams import subject_of
from penstock.resource.ports.event_publisher import EventPublisher
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append

log = structlog.get_logger(__name__)

_AT_ONCE = 500


class SourceEvents:
    """An event that was published within the last week is passed over; a week is what agents may be away."""

    def __init__(self, store: Store, bus: Bus, clock: Clock, publisher: EventPublisher, streams: SourceStreams) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._publisher = publisher
        self._streams = streams

    async def publish(
        self, events: Sequence[CloudEvent], *, source: str | None = None, channels: Sequence[str] | None = None
    ) -> None:
        """Returns once the events are stored. source: the event source whose stream gets a copy.

        Raises Unavailable: try again; Invalid, when an event does not fit its definition; NotFound for a channel.
        """
        for start in range(0, len(events), _AT_ONCE):
            await self._publish(events[start : start + _AT_ONCE], source, channels)

    async def publish_what_fits(self, events: Sequence[CloudEvent], source: str) -> None:
        """Like `publish`; events that do not fit their definitions are logged and left out."""
        try:
            await self.publish(events, source=source)
        except Invalid:
            for event in events:
                try:
                    await self.publish([event], source=source)
                except Invalid as error:
                    log.error("event of a source dropped", source=source, id=event.id, reason=error.detail)

    async def _publish(self, events: Sequence[CloudEvent], source: str | None, channels: Sequence[str] | None) -> None:
        fresh = await self._fresh(events)
        REPEATED.inc(len(events) - len(fresh))
        if not fresh:
            return
        await self._publisher.publish(fresh, channels=channels)
        if source is not None:
            await self._copy(fresh, source)
        now = self._clock.now()
        PUBLISHED.inc(len(fresh))
        await self._store.commit([Append(TAKEN_EVENTS, [TakenEvent(id=event.key, at=now) for event in fresh])])

    async def _fresh(self, events: Sequence[CloudEvent]) -> list[CloudEvent]:
        """Those not published before, each once."""
        by_key = {event.key: event for event in events}
        where = [Where("event", "in", list(by_key))]
        bodies = await self._store.entries(TAKEN_EVENTS, where, limit=len(by_key))
        taken = {decode(body, TakenEvent).id for body in bodies}
        return [event for key, event in by_key.items() if key not in taken]

    async def _copy(self, events: Sequence[CloudEvent], source: str) -> None:
        subject = subject_of(stream_of(source))
        messages = [Message(subject=subject, body=event.to_json(), message_id=event.key) for event in events]
        try:
            await self._bus.publish_all(messages)
        except Unavailable:
            # Perhaps somebody deleted the stream. When the bus is away, this raises too.
            await self._streams.ensure(source)
            await self._bus.publish_all(messages)
