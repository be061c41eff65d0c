"""Events that some endpoints of their channel have and others do not yet: kept on the bus, for when a server dies."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.bus.message import Delivered

# Longer than all tries of an event take; afterwards an endpoint gets it twice, which it must bear anyway.
_SPEC = BucketSpec(bucket="partial-deliveries", max_age=timedelta(days=3))


class PartialDeliveries:
    """Written only when an endpoint fails while another one has the event, so that what goes well costs nothing."""

    def __init__(self, bus: Bus) -> None:
        self._bucket = Bucket(bus, _SPEC)
        self._is_there = False

    async def of(self, channel: str, message: Delivered) -> Sequence[str]:
        """Keys of the endpoints that have the event. Raises Unavailable."""
        await self._ensure()
        entry = await self._bucket.get(_key(channel, message))
        return msgspec.json.decode(entry.value, type=list[str]) if entry is not None else ()

    async def keep(self, channel: str, message: Delivered, endpoints: Sequence[str]) -> None:
        """Raises Unavailable."""
        await self._ensure()
        await self._bucket.put(_key(channel, message), msgspec.json.encode(endpoints))

    async def forget(self, channel: str, message: Delivered) -> None:
        """Raises Unavailable."""
        await self._ensure()
        await self._bucket.erase(_key(channel, message))

    async def _ensure(self) -> None:
        if not self._is_there:
            await self._bucket.ensure()
            self._is_there = True


def _key(channel: str, message: Delivered) -> str:
    # The time, too: sequences begin again when a stream is made anew.
    text = f"{channel}\0{message.sequence}\0{message.time.timestamp()}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
