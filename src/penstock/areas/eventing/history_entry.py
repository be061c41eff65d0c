"""The history of events: an entry for each, and one for each channel that it went to.

An entry is small; the event itself is read from the stream of accepted events.
"""

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from penstock.areas.eventing.model import EventOverviewDto
from penstock.areas.eventing.router import target_channels
from penstock.areas.eventing.stored import digest
from penstock.bus.message import StoredMessage
from penstock.kernel.errors import Invalid
from penstock.store.definition import Column, ColumnType, Journal


class _Attributes(msgspec.Struct):
    """What entries need of an event, whose data stays undecoded."""

    id: str
    source: str
    type: str
    specversion: str


_attributes = msgspec.json.Decoder(_Attributes)


class EventEntry(EventOverviewDto):
    """sequence: in the stream of accepted events. definition: of type, source and version.

    channel: set in the entries for channels, which do not have `definition`.
    """

    sequence: int
    definition: str | None = None
    channel: str | None = None

    def shown(self) -> EventOverviewDto:
        return EventOverviewDto(
            utc_date_time=self.utc_date_time, event_type=self.event_type, source=self.source, id=self.id
        )


def definition_key(type: str, source: str, version: str) -> str:
    """What ties entries to a definition."""
    return digest([type, source, version])


def entries_of(message: StoredMessage) -> Sequence[EventEntry]:
    """The entries of an accepted event. Raises Invalid when the message is none."""
    try:
        event = _attributes.decode(message.data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid.one("", f"is no event: {error}") from None
    entry = EventEntry(
        utc_date_time=message.time,
        event_type=event.type,
        source=event.source,
        id=event.id,
        sequence=message.sequence,
        definition=definition_key(event.type, event.source, event.specversion),
    )
    targets = target_channels(message.headers)
    return [entry, *(msgspec.structs.replace(entry, definition=None, channel=channel) for channel in targets)]


HISTORY: Journal[EventEntry] = Journal(
    "events",
    EventEntry,
    at=lambda entry: entry.utc_date_time,
    key=lambda entry: f"{entry.sequence}/{entry.channel or ''}",
    columns=(
        Column("channel", lambda entry: entry.channel, ColumnType.KEY),
        Column("event_type", lambda entry: entry.event_type),
        Column("definition", lambda entry: entry.definition),
        Column("event", lambda entry: entry.id),
    ),
    keep=timedelta(days=30),
)
