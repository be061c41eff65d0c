"""Following a stream live: a short-lived consumer that is made again after each loss, without a gap."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from nats.aio.msg import Msg

from penstock.bus.bus import Bus
from penstock.bus.message import Delivered
from penstock.bus.naming import stream_key
from penstock.bus.pull import ConsumerAway, Pull
from penstock.bus.session import SessionLost
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.kernel.ids import new_id

_log = structlog.get_logger(__name__)
_AHEAD = 128
_FORGOTTEN_AFTER = timedelta(minutes=1)  # the server drops a consumer that nobody asks
_NANOSECONDS = 1_000_000_000


class Start(msgspec.Struct, frozen=True):
    """Where to begin. Exactly one is given: after a sequence, at the next new message, or with the
    latest message of each subject."""

    after: int | None = None
    new: bool = False
    latest: bool = False

    def configuration(self) -> dict[str, Any]:
        if self.after is not None:
            return {"deliver_policy": "by_start_sequence", "opt_start_seq": self.after + 1}
        return {"deliver_policy": "last_per_subject" if self.latest else "new"}


class Feed(AsyncIterator[Delivered]):
    """Messages as they come; `pending` 0 on one means that everything there was has come.

    empty: there were none to begin with.
    """

    def __init__(self, follower: "_Follower") -> None:
        self._follower = follower

    @property
    def empty(self) -> bool:
        return self._follower.pending_at_start == 0

    async def __anext__(self) -> Delivered:
        """Raises NotFound when the stream is deleted."""
        return await self._follower.next()

    async def batch(self, most: int) -> list[Delivered]:
        """The next message with up to `most` - 1 that have come behind it. Raises NotFound."""
        messages = [await self._follower.next()]
        while len(messages) < most and (message := self._follower.arrived()) is not None:
            messages.append(message)
        return messages


@asynccontextmanager
async def follow(
    bus: Bus,
    stream: str,
    start: Start,
    *,
    subjects: Sequence[str] = (),
    headers_only: bool = False,
    ahead: int = _AHEAD,
    pace: float = 0.0,
) -> AsyncIterator[Feed]:
    """Gives the stream's messages from `start` on, for as long as the context lasts.

    Nothing is missed or doubled when connection or server go away and come back.
    headers_only: without the data. ahead: fetched beforehand. pace: see Pull.run_paced; 0 for none.

    Raises NotFound without the stream.
    """
    options = {"filter_subjects": list(subjects), "headers_only": headers_only}
    follower = _Follower(bus, stream, start, options, ahead, pace)
    await follower.begin()
    fetching = asyncio.create_task(follower.fetch(), name=f"follow {stream}")
    try:
        yield Feed(follower)
    finally:
        fetching.cancel()
        await asyncio.wait([fetching])


class _Place(msgspec.Struct):
    stream_seq: int = 0


class _Created(msgspec.Struct):
    num_pending: int
    delivered: _Place


class _Follower:
    def __init__(self, bus: Bus, stream: str, start: Start, options: dict[str, Any], ahead: int, pace: float) -> None:
        self.pending_at_start = 0
        self._bus = bus
        self._stream = stream_key(stream)
        self._start = start
        self._options = options
        self._ahead = ahead
        self._pace = pace
        self._consumer = ""
        self._arrived: asyncio.Queue[Delivered | PenstockError] = asyncio.Queue()
        self._waiting = 0
        self._pull: Pull | None = None

    async def begin(self) -> None:
        created = await self._create()
        self.pending_at_start = created.num_pending
        if self._start.new:
            # Should the first consumer be lost before its first message, the next begins at the same place.
            self._start = Start(after=created.delivered.stream_seq)

    async def next(self) -> Delivered:
        return self._released(await self._arrived.get())

    def arrived(self) -> Delivered | None:
        """A message that is here already. Raises as `next`."""
        return None if self._arrived.empty() else self._released(self._arrived.get_nowait())

    def _released(self, message: Delivered | PenstockError) -> Delivered:
        if isinstance(message, PenstockError):
            raise message
        self._waiting -= 1
        if self._pull is not None:
            self._pull.release()
        return message

    async def fetch(self) -> None:
        """Runs until cancelled, or until the stream is gone, which `next` then raises."""
        try:
            while True:
                await self._fetch_from_consumer()
                await self._recreate()
        except PenstockError as error:
            self._arrived.put_nowait(error)

    async def _fetch_from_consumer(self) -> None:
        path = f"{self._stream}.{self._consumer}"
        try:
            session = await self._bus.session(_FORGOTTEN_AFTER.total_seconds())
            async with Pull(session, path, self._ahead, self._take, self._waiting) as self._pull:
                await (self._pull.run_paced(self._pace) if self._pace else self._pull.run())
        except (SessionLost, ConsumerAway):
            return
        finally:
            await self._bus.notify(f"$JS.API.CONSUMER.DELETE.{path}")

    async def _recreate(self) -> None:
        while True:
            try:
                await self._create()
                return
            except Unavailable:
                _log.warning("stream cannot be followed, trying again", stream=self._stream)

    async def _create(self) -> _Created:
        self._consumer = f"follow-{new_id().hex}"
        return await self._bus.api(
            f"CONSUMER.CREATE.{self._stream}.{self._consumer}",
            {
                "stream_name": self._stream,
                "config": {
                    "name": self._consumer,
                    "ack_policy": "none",
                    "mem_storage": True,
                    "num_replicas": 1,
                    "inactive_threshold": int(_FORGOTTEN_AFTER.total_seconds() * _NANOSECONDS),
                    **self._start.configuration(),
                    **self._options,
                },
            },
            _Created,
        )

    def _take(self, message: Msg) -> None:
        delivered = Delivered.of(message)
        self._start = Start(after=delivered.sequence)
        self._waiting += 1
        self._arrived.put_nowait(delivered)
