"""Operations on events: publishing, and their history."""

from collections.abc import AsyncIterator
from uuid import UUID

import structlog

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.history import EventFilter, EventHistory
from penstock.areas.eventing.model import EventDetailsDto, EventOverviewDto
from penstock.areas.eventing.publish_body import events_of
from penstock.areas.eventing.publisher import Publisher
from penstock.kernel.actor import Role
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.kernel.wire import Wire, encode
from penstock.protocol.cloudevent import JSON_MEDIA, CloudEvent
from penstock.resource.answer import Encoded, EventStream, File
from penstock.resource.area import Stopping
from penstock.resource.call import Call
from penstock.resource.operation import operation
from penstock.resource.parameter import Filter, UndecodedText

log = structlog.get_logger(__name__)


class PublishedEvents(Wire):
    """Ids of the events, in the order of the request."""

    ids: list[str]


class PublishOperations:
    """Publishing."""

    def __init__(self, publisher: Publisher, channels: ChannelService, clock: Clock) -> None:
        self._publisher = publisher
        self._channels = channels
        self._clock = clock

    @operation("POST", "/api/EventHub/Publish", Role.OPERATOR)
    async def publish(self, data: UndecodedText, call: Call) -> File:
        """Publish events. Answers `{"Ids": [...]}` once they are stored durably.

        The body is a JSON string that holds a CloudEvent, an array of them, or any other data; or the same without the
        string around it; or CloudEvents as their HTTP binding sends them: `application/cloudevents+json`,
        `application/cloudevents-batch+json`, or any data with `ce-` headers.

        Data alone becomes an event of the type `penstock.data` and the source `/penstock/publish`, with a new id and
        the present time. Of several events all are stored, or none when one is not valid. An event with the source and
        id of one that was stored in the last two minutes is not stored again; its id is answered all the same.
        """
        events = events_of(call.headers, data, self._clock.now())
        await self._publisher.publish(events)
        return _answer(events)

    @operation("POST", "/api/EventHub/Admin/channels/{id}/publish", Role.OPERATOR)
    async def publish_to_channel(self, id: UUID, data: UndecodedText, call: Call) -> File:
        """Publish events to one channel, whatever it subscribes to. Body and answer are as without a channel."""
        channel = await self._channels.resource.get(id)
        events = events_of(call.headers, data, self._clock.now())
        await self._publisher.publish(events, channels=[channel.name])
        return _answer(events)


class HistoryOperations:
    """Events that were accepted; kept for 30 days. An event is in the history moments after it was published."""

    def __init__(self, history: EventHistory, stopping: Stopping) -> None:
        self._history = history
        self._stopping = stopping

    @operation("GET", "/eventing/events", Role.READER)
    async def events(self, wanted: Filter[EventFilter]) -> Encoded[list[EventOverviewDto]]:
        """List events, newest first.

        FromDate and ToDate include their bounds. At most Limit, 100 unless given, up to 1000; a Link header leads to
        earlier ones.
        """
        return await self._history.find(wanted)

    @operation("GET", "/eventing/events/channel", Role.READER)
    async def events_of_channel(self, channel_name: str) -> list[EventOverviewDto]:
        """List the newest 1000 events that a channel was given. `/eventing/events` reads further back."""
        return await self._history.of_channel(channel_name)

    @operation("GET", "/eventing/events/eventtype", Role.READER)
    async def events_of_type(self, event_type: str) -> list[EventOverviewDto]:
        """List the newest 1000 events of a type. `/eventing/events` reads further back."""
        return await self._history.of_type(event_type)

    @operation("GET", "/eventing/events/eventdefinition/{id}", Role.READER)
    async def events_of_definition(self, id: UUID) -> list[EventOverviewDto]:
        """List the newest 1000 events with the type, source and version of a definition."""
        return await self._history.of_definition(id)

    @operation("GET", "/eventing/events/details", Role.READER)
    async def event_details(self, event_id: str) -> EventDetailsDto:
        """Get an event with its data and the channels that it was given to; of several with the id, the newest."""
        return await self._history.details(event_id)

    @operation("POST", "/eventing/events/reindex", Role.ADMIN, beyond=True)
    async def reindex(self) -> EventStream:
        """Make the history anew from the stream of accepted events.

        Answers server-sent events, `{"Done": 500, "Total": 2000, "Skipped": 0, "Finished": false}` after each part and
        at the end. The work ends with the connection; it may run while events are published.
        """
        return EventStream(self._progress())

    async def _progress(self) -> AsyncIterator[bytes]:
        try:
            async for progress in self._history.rebuild():
                yield b"data: %s\n\n" % encode(progress)
                if self._stopping.is_set():
                    return
        except PenstockError as error:  # the answer has begun, it cannot say so any more
            log.error("reindex of the history ended early", reason=error.detail)


def _answer(events: list[CloudEvent]) -> File:
    return File(encode(PublishedEvents(ids=[event.id for event in events])), JSON_MEDIA)
