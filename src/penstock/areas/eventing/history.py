"""Reading the history of events, and keeping it in step with the stream of accepted events."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import structlog

from penstock.areas.eventing.definitions import DefinitionService
from penstock.areas.eventing.history_entry import HISTORY, EventEntry, definition_key, entries_of
from penstock.areas.eventing.model import EventDetailsDto, EventOverviewDto
from penstock.areas.eventing.router import target_channels
from penstock.areas.eventing.stored import CHANNELS
from penstock.bus.bus import Bus
from penstock.bus.message import StoredMessage
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.kernel.errors import Invalid, NotFound
from penstock.kernel.wire import Wire, encode
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import EVENTS
from penstock.resource.answer import Encoded
from penstock.resource.page import MOST, PageSize, page_size
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append

log = structlog.get_logger(__name__)

_REINDEX_PAGE = 500
_MOST_ENTRIES = 2000


class EventFilter(Wire):
    """FromDate and ToDate include their bounds."""

    from_date: datetime | None = None
    to_date: datetime | None = None
    event_type: str | None = None
    channel: str | None = None
    limit: PageSize | None = None


class ReindexProgress(Wire):
    """How far a reindex has come. Done of Total events; Skipped could not be read."""

    done: int
    total: int
    skipped: int
    finished: bool = False


class EventHistory:
    """Overviews come from the journal, an event itself from the stream."""

    def __init__(self, store: Store, bus: Bus, definitions: DefinitionService) -> None:
        self._store = store
        self._streams = Streams(bus)
        self._reader = StreamReader(bus)
        self._definitions = definitions

    async def find(self, wanted: EventFilter) -> Encoded[list[EventOverviewDto]]:
        """A page of the events, newest first."""
        size = page_size(wanted.limit)
        where = [Where("channel", "=", wanted.channel or None)]
        if wanted.event_type:
            where.append(Where("event_type", "=", wanted.event_type))
        found = await self._entries(where, size + 1, wanted.from_date, wanted.to_date)
        page, following = _cut(found, size)
        next_query = _page_before(following) if following is not None and size else None
        return Encoded(encode([entry.shown() for entry in page]), next_query=next_query)

    async def of_channel(self, name: str) -> list[EventOverviewDto]:
        """The newest events of a channel. Raises NotFound when neither it nor an event of it exists."""
        found = await self._entries([Where("channel", "=", name)], MOST)
        if not found and await self._store.find(CHANNELS, "name", name) is None:
            raise NotFound.of("channel", name)
        return [entry.shown() for entry in found]

    async def of_type(self, event_type: str) -> list[EventOverviewDto]:
        """The newest events of a type."""
        where = [Where("channel", "=", None), Where("event_type", "=", event_type)]
        return [entry.shown() for entry in await self._entries(where, MOST)]

    async def of_definition(self, id: UUID) -> list[EventOverviewDto]:
        """The newest events that a definition describes. Raises NotFound without the definition."""
        definition = await self._definitions.get(id)
        key = definition_key(definition.type or "", definition.source or "", definition.spec_version or "")
        return [entry.shown() for entry in await self._entries([Where("definition", "=", key)], MOST)]

    async def details(self, event_id: str) -> EventDetailsDto:
        """The newest event of this id. Raises NotFound."""
        found = await self._entries([Where("event", "=", event_id), Where("channel", "=", None)], 1)
        message = await self._message(found[0].sequence) if found else None
        if message is None:
            raise NotFound.of("event", event_id)
        event = CloudEvent.from_json(message.data)
        return EventDetailsDto(
            utc_date_time=message.time,
            event_type=event.type,
            source=event.source,
            id=event.id,
            version=event.specversion,
            json=message.data.decode(),
            target_channels=list(target_channels(message.headers)),
        )

    async def take(self, messages: Sequence[StoredMessage]) -> None:
        """Keeps entries of accepted events; those kept before are passed over."""
        await self._keep(_readable(messages)[0])

    async def rebuild(self) -> AsyncIterator[ReindexProgress]:
        """Makes the entries of all events that the stream still has anew, page by page; older ones stay.

        May run while events are accepted, and be stopped at any time.
        """
        state = (await self._streams.info(EVENTS)).state
        done = skipped = 0
        sequence = state.first_seq - 1
        while sequence < state.last_seq:
            messages = await self._reader.after(EVENTS, sequence, count=_REINDEX_PAGE)
            if not messages:
                break
            entries, unreadable = _readable(messages)
            await self._keep(entries, replace=True)
            sequence = messages[-1].sequence
            done, skipped = done + len(messages), skipped + unreadable
            yield ReindexProgress(done=done, total=max(state.messages, done), skipped=skipped)
        yield ReindexProgress(done=done, total=done, skipped=skipped, finished=True)

    async def _keep(self, entries: Sequence[EventEntry], *, replace: bool = False) -> None:
        # An event may go to any number of channels.
        for start in range(0, len(entries), _MOST_ENTRIES):
            await self._store.commit([Append(HISTORY, entries[start : start + _MOST_ENTRIES], replace)])

    async def _entries(
        self, where: Sequence[Where], limit: int, since: datetime | None = None, until: datetime | None = None
    ) -> list[EventEntry]:
        after = (
            until + until.resolution
            if until is not None and until < datetime.max.replace(tzinfo=until.tzinfo)
            else None
        )
        try:
            bodies = await self._store.entries(HISTORY, where, since=since, until=after, limit=limit)
        except Invalid:  # what no column can hold, no event has
            return []
        return [decode(body, EventEntry) for body in bodies]

    async def _message(self, sequence: int) -> StoredMessage | None:
        found = await self._reader.after(EVENTS, sequence - 1, count=1)
        return found[0] if found and found[0].sequence == sequence else None


def _readable(messages: Sequence[StoredMessage]) -> tuple[list[EventEntry], int]:
    """The entries, and how many messages are no events."""
    entries: list[EventEntry] = []
    unreadable = 0
    for message in messages:
        try:
            entries += entries_of(message)
        except Invalid as error:
            unreadable += 1
            log.error("unreadable event is not in the history", sequence=message.sequence, reason=error.detail)
    return entries, unreadable


def _cut(found: Sequence[EventEntry], size: int) -> tuple[Sequence[EventEntry], EventEntry | None]:
    """The page, and the entry that the next one begins with. Entries of one instant stay together if they can."""
    if len(found) <= size:
        return found, None
    following = found[size]
    page = found[:size]
    earlier = [entry for entry in page if entry.utc_date_time != following.utc_date_time]
    return (earlier or page), following


def _page_before(following: EventEntry) -> Mapping[str, str]:
    return {"ToDate": following.utc_date_time.isoformat().replace("+00:00", "Z")}
