"""Messages that the bus itself delivers at a due time: no replica needs to watch a clock.

NATS message schedules (server 2.12 and later): a message under `due.at.<key>` with `@at <time>`; at its
time the server moves the body to `due.now.<topic>`. Handled ones leave the stream.
"""

from datetime import UTC, datetime

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.consumer import ConsumerSpec
from penstock.bus.naming import stream_key
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import NotFound

STREAM = "due"
_AT = "due.at"
_NOW = "due.now"


class Due:
    """One schedule per key; scheduling a key again replaces what it had."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._streams = Streams(bus)

    async def ensure(self, replicas: int = 1) -> None:
        """Makes the stream; idempotent."""
        await self._streams.ensure(
            StreamSpec(
                name=STREAM,
                subjects=[f"{_AT}.>", f"{_NOW}.>"],
                work_queue=True,  # a message goes when it is handled; one not yet due has no handler
                schedules=True,
                replicas=replicas,
            )
        )

    async def schedule(self, key: str, due: datetime, topic: str, body: bytes) -> None:
        """Delivers `body` to the consumers of `topic` at `due`, at once when that has passed.

        key: subject tokens like `trigger.<id>`. Returns when the schedule is on disk.
        """
        await self._bus.publish(
            f"{_AT}.{key}",
            body,
            headers={
                "Nats-Schedule": f"@at {due.astimezone(UTC).isoformat().replace('+00:00', 'Z')}",
                "Nats-Schedule-Target": f"{_NOW}.{topic}",
            },
        )

    async def cancel(self, key: str) -> None:
        """Forgets the schedule of `key`, if there is one; what has become due already is delivered."""
        await self._streams.purge(STREAM, f"{_AT}.{key}")

    async def holds(self, sequence: int) -> bool:
        """Whether the message of that sequence is still there: not yet handled, or being handled."""
        try:
            await self._bus.api(f"STREAM.MSG.GET.{stream_key(STREAM)}", {"seq": sequence}, msgspec.Raw)
        except NotFound:
            return False
        return True


def due_consumer(topic: str, *, ack_seconds: float = 30.0) -> ConsumerSpec:
    """The consumer that replicas share to handle what becomes due under `topic`."""
    return ConsumerSpec(stream=STREAM, name=f"due-{topic}", subjects=[f"{_NOW}.{topic}"], ack_seconds=ack_seconds)
