"""Dead letters: events that could not be delivered, with the reason; as stored, and as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

import msgspec

from penstock.bus.message import Delivered, StoredMessage
from penstock.kernel.wire import Int32, Int64, Wire, encode
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import ORIGIN


class DeliveryFailure(Wire):
    """What one endpoint failed at, or, as type `components`, what the channel's components did.

    Position: the endpoint's in the channel. Tries: how often the event was tried there. Error: of the last try.
    """

    type: str
    position: Int32
    tries: Int32
    error: str


class DeadLetter(Wire):
    """An event that a channel could not deliver.

    Sequence: its number among the channel's dead letters. Time: when it was given up. Json: the event; null in lists.
    """

    channel: str
    sequence: Int64
    time: datetime
    failures: Sequence[DeliveryFailure]
    event_id: str | None = None
    event_type: str | None = None
    event_source: str | None = None
    json: str | None = None


class DeadLetterQueue(Wire):
    """The dead letters of a channel in short. Oldest: when the first of them was given up."""

    channel: str
    count: Int64
    oldest: datetime | None = None


class StoredDeadLetter(msgspec.Struct, kw_only=True):
    """A message of a dead-letter stream.

    event: as it lay in the channel's stream. origin: its sequence among all accepted events, as text.
    delivered: keys of the endpoints that have it.
    """

    event: msgspec.Raw
    failures: list[DeliveryFailure]
    delivered: list[str]
    origin: str

    @classmethod
    def of(cls, message: Delivered, failures: list[DeliveryFailure], delivered: list[str]) -> Self:
        return cls(
            event=msgspec.Raw(message.data),
            failures=failures,
            delivered=delivered,
            origin=message.headers.get(ORIGIN, ""),
        )

    @classmethod
    def read(cls, message: StoredMessage) -> Self:
        return _decoder.decode(message.data)  # type: ignore[return-value]

    def encode(self) -> bytes:
        return encode(self)

    def shown(self, channel: str, message: StoredMessage, *, whole: bool) -> DeadLetter:
        event = CloudEvent.from_json(bytes(self.event))
        return DeadLetter(
            channel=channel,
            sequence=message.sequence,
            time=message.time,
            failures=self.failures,
            event_id=event.id,
            event_type=event.type,
            event_source=event.source,
            json=bytes(self.event).decode() if whole else None,
        )


_decoder = msgspec.json.Decoder(StoredDeadLetter)
