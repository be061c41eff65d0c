"""Work that one of several replicas does at a time, going on where the last one stopped."""

import asyncio

import msgspec

from penstock.bus.bus import Bus, Received, Subscription
from penstock.bus.keyvalue import Bucket, BucketSpec, Entry
from penstock.kernel.errors import Stale, Unavailable
from penstock.kernel.ids import new_id

_BUCKET = BucketSpec(bucket="seats", history=1)
_ASK_SECONDS = 2.0
_PAUSE = 1.0
_LEAVE_SECONDS = 2.0


class SeatLost(Exception):
    """Another one has taken the seat."""


class _Record(msgspec.Struct):
    """Who has the seat, nobody when empty, and how far the work has come."""

    holder: str
    position: int


class Seat:
    """A key of a bucket that names its holder and the position of its work.

    Who wants the seat asks the holder whether it is there, and takes the place of one that does not answer: the bus
    knows at once when a process is gone. A holder that only seemed gone learns of it when it next records its
    position. Until then both may work: what the work does must bear that.
    """

    def __init__(self, bus: Bus, name: str) -> None:
        """name: of A-Z a-z 0-9 - _ =."""
        self._bus = bus
        self._name = name
        self._bucket = Bucket(bus, _BUCKET)
        self._holder = new_id().hex
        self._presence: Subscription | None = None
        self._revision = 0
        self._recorded = 0

    async def take(self) -> int:
        """Returns the recorded position once the seat is ours. Raises Unavailable."""
        await self._bucket.ensure()
        if self._presence is None:
            self._presence = await self._bus.respond(_subject(self._holder), _present, queue=self._holder)
        while True:
            entry = await self._bucket.get(self._name)
            record = _record(entry)
            if not await self._is_held(record):
                try:
                    self._recorded = record.position
                    await self._write(self._holder, record.position, entry.revision if entry else 0)
                    return record.position
                except Stale:
                    continue  # another one was quicker
            await asyncio.sleep(_PAUSE)

    async def record(self, position: int) -> None:
        """Stores how far the work has come. Raises SeatLost, Unavailable."""
        if position == self._recorded:
            return
        try:
            await self._write(self._holder, position, self._revision)
        except Stale:
            raise SeatLost(self._name) from None
        self._recorded = position

    async def leave(self, position: int) -> None:
        """Lets the next one have the seat at once. One that is lost already, or a bus that is away, is no error."""
        if self._presence is not None:
            await self._presence.stop()
            self._presence = None
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self._write("", position, self._revision)
        except (Stale, Unavailable, TimeoutError):
            return

    async def _is_held(self, record: _Record) -> bool:
        if record.holder in ("", self._holder):
            return False
        try:
            await self._bus.request(_subject(record.holder), timeout=_ASK_SECONDS)
        except Unavailable:
            return False
        return True

    async def _write(self, holder: str, position: int, revision: int) -> None:
        value = msgspec.json.encode(_Record(holder, position))
        self._revision = await self._bucket.update(self._name, value, revision)


async def _present(_: Received) -> bytes:
    return b""


def _subject(holder: str) -> str:
    return f"seat.{holder}"


def _record(entry: Entry | None) -> _Record:
    return msgspec.json.decode(entry.value, type=_Record) if entry else _Record("", 0)
