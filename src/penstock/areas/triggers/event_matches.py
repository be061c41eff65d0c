"""Finds the event triggers that accepted events are for, and has each run once."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.areas.triggers.stored import EVENT_TRIGGERS, StoredEventTrigger
from penstock.bus.batch import publish_batch
from penstock.bus.bus import Bus
from penstock.bus.consumer import ConsumerSpec
from penstock.bus.message import Delivered, Message
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.wire import Wire, encode
from penstock.resource.compiled import Compiled
from penstock.resource.event_patterns import PatternIndex
from penstock.store.store import Store

_log = structlog.get_logger(__name__)

STREAM = "triggered"
_SUBJECT = "triggered.event"
_TAKEOVER_SECONDS = 5.0
_MOST_PENDING = 10_000  # those that wait for their trigger's turn among them


class Triggered(Wire):
    """An event, by its place in the stream of accepted events, and a trigger that it is for."""

    trigger: UUID
    sequence: int


class _Attributes(msgspec.Struct):
    """What matching needs of an event, whose data stays undecoded."""

    source: str
    type: str
    specversion: str


_attributes = msgspec.json.Decoder(_Attributes)


class _Triggers:
    """Those that are enabled."""

    def __init__(self, triggers: Iterable[StoredEventTrigger]) -> None:
        self._by_id: Mapping[str, StoredEventTrigger] = {str(each.key): each for each in triggers if each.is_enabled}
        self._index = PatternIndex((trigger.pattern, id) for id, trigger in self._by_id.items())

    def of(self, message: Delivered) -> Iterable[StoredEventTrigger]:
        """Those that the event is for."""
        event = _attributes.decode(message.data)
        for id in self._index.asking(event.source, event.type, event.specversion):
            trigger = self._by_id[id]
            if trigger.takes(message.sequence, message.time):
                yield trigger


class EventMatches:
    """Puts a message on the stream `triggered` for each event and trigger, under an id of both."""

    def __init__(self, bus: Bus, store: Store) -> None:
        self._bus = bus
        self._triggers: Compiled[StoredEventTrigger, StoredEventTrigger, _Triggers] = Compiled(
            store, EVENT_TRIGGERS, lambda trigger: trigger, _Triggers
        )

    async def ensure(self) -> None:
        """Makes the stream; idempotent."""
        spec = StreamSpec(
            name=STREAM,
            subjects=[_SUBJECT],
            description="events that action triggers are for",
            work_queue=True,
            atomic=True,
        )
        await Streams(self._bus).ensure(spec)

    async def take(self, events: Sequence[Delivered]) -> None:
        """Returns once all matches are stored. Raises Unavailable."""
        # Read anew, so that a trigger holds for every event that is published after it was saved, on any replica.
        self._triggers.invalidate()
        triggers = await self._triggers.current()
        matches = [match for event in events for match in self._matches(triggers, event)]
        if matches:
            await publish_batch(self._bus, matches)

    def _matches(self, triggers: _Triggers, event: Delivered) -> Iterable[Message]:
        try:
            for trigger in triggers.of(event):
                body = encode(Triggered(trigger=trigger.key, sequence=event.sequence))
                yield Message(subject=_SUBJECT, body=body, message_id=f"{event.sequence}-{trigger.key}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            _log.error("unreadable event triggers nothing", sequence=event.sequence, reason=str(error))


def triggered_consumer() -> ConsumerSpec:
    """The consumer that replicas share to run what was triggered."""
    return ConsumerSpec(stream=STREAM, name="event-triggers", ack_seconds=_TAKEOVER_SECONDS, max_pending=_MOST_PENDING)
