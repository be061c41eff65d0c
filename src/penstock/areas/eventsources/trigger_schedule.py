"""The due messages of triggers: one waits for each, so that one replica runs it and no other at the same time."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.areas.eventsources.stored import StoredTrigger
from penstock.bus.bus import Bus
from penstock.bus.consumer import ConsumerSpec
from penstock.bus.due import Due, due_consumer
from penstock.kernel.wire import Wire, encode

POLLING = "triggers"
LISTENING = "triggers-listening"
"""A trigger that listens is never done with its message, which is kept until another replica can have it."""
_TAKEOVER_SECONDS = 4.0
"""How long the triggers of a replica that died wait for another.

One that only stood still that long loses its claim, and can neither publish under it nor move the position.
"""


class DueTrigger(Wire):
    """What a due message says. stamp: of the trigger that is due."""

    id: UUID
    stamp: str


class TriggerSchedule:
    """Writes due messages."""

    def __init__(self, bus: Bus) -> None:
        self._due = Due(bus)

    async def put(self, trigger: StoredTrigger, due: datetime) -> None:
        """The trigger is due then, and not when it was before."""
        topic = POLLING if trigger.polling else LISTENING
        message = DueTrigger(id=trigger.key, stamp=trigger.stamp)
        await self._due.schedule(_key(trigger.key), due, topic, encode(message))

    async def cancel(self, id: UUID) -> None:
        """The trigger is not due any more."""
        await self._due.cancel(_key(id))

    async def holds(self, message: int) -> bool:
        """Whether somebody has the due message in hand, or will get it again."""
        return await self._due.holds(message)

    async def ensure(self) -> None:
        """Makes the stream of due messages; idempotent."""
        await self._due.ensure()

    def consumers(self) -> Sequence[ConsumerSpec]:
        """Those of triggers that are polled, and of those that listen."""
        return [due_consumer(topic, ack_seconds=_TAKEOVER_SECONDS) for topic in (POLLING, LISTENING)]


def read(body: bytes) -> DueTrigger:
    """Raises msgspec.ValidationError, msgspec.DecodeError."""
    return msgspec.json.decode(body, type=DueTrigger)


def _key(id: UUID) -> str:
    return f"trigger.{id}"
