"""Accepting events."""

from collections.abc import Sequence

from penstock.areas.eventing.metrics import ACCEPTED, DUPLICATES
from penstock.areas.eventing.routing_table import RoutingTable, Schemas
from penstock.areas.eventing.stored import digest
from penstock.bus.batch import Batches
from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import CHANNELS, EVENT_SUBJECT

# Longer than the bus server takes to be started again, shorter than callers wait.
_SECONDS = 5.0


class Publisher:
    """Stores events with the channels that they go to; see resource.ports.event_publisher.EventPublisher."""

    def __init__(self, bus: Bus, table: RoutingTable) -> None:
        self._batches = Batches(bus, timeout=_SECONDS)
        self._table = table

    async def publish(self, events: Sequence[CloudEvent], *, channels: Sequence[str] | None = None) -> None:
        """Returns once all are on disk; nothing is stored unless all of them are valid.

        channels: go to these, whatever is subscribed. Raises Invalid, NotFound, Unavailable.
        """
        _check_data(events, await self._table.schemas())
        if channels is None:
            routes = await self._table.routes()
            messages = [_message(e, routes.channels(e.source, e.type, e.specversion)) for e in events]
        else:
            names = await self._table.named(channels)
            # Elsewhere the same event may have gone already.
            place = digest(names)
            messages = [_message(event, names, f"{event.key}-{place}") for event in events]
        acks = await self._batches.publish(messages)
        duplicates = sum(ack.duplicate for ack in acks)
        ACCEPTED.inc(len(acks) - duplicates)
        DUPLICATES.inc(duplicates)


def _message(event: CloudEvent, channels: Sequence[str], message_id: str | None = None) -> Message:
    headers = {CHANNELS: ",".join(channels)} if channels else None
    return Message(subject=EVENT_SUBJECT, body=event.to_json(), headers=headers, message_id=message_id or event.key)


def _check_data(events: Sequence[CloudEvent], schemas: Schemas) -> None:
    if not schemas:
        return
    errors: list[FieldError] = []
    for index, event in enumerate(events):
        schema = schemas.get((event.source, event.type, event.specversion))
        if schema is None:
            continue
        path = f"[{index}]." if len(events) > 1 else ""
        if event.has_json:
            errors += [FieldError(path + error.field, error.message) for error in schema.errors(event.data)]
        else:
            errors.append(FieldError(f"{path}data", "must be JSON, which the event's definition describes"))
    if errors:
        raise Invalid(errors)
