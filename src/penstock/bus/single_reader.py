"""Reading a stream in order, by one replica at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from penstock.bus.bus import Bus
from penstock.bus.follow import Start, follow
from penstock.bus.message import Delivered
from penstock.bus.seat import Seat, SeatLost
from penstock.bus.streams import Streams
from penstock.kernel.errors import PenstockError, Unavailable

_log = structlog.get_logger(__name__)
_RECORD_SECONDS = 0.25
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0

BatchHandler = Callable[[Sequence[Delivered]], Awaitable[None]]


class SingleReader:
    """Hands a stream's messages to a handler, strictly in order; the next batch waits until one is handled.

    Where it is gets recorded now and then, so that after a fault the last quarter of a second comes again: the handler
    must bear that. A batch that fails is tried again until it does not; nothing overtakes it.
    """

    def __init__(self, bus: Bus, stream: str, name: str) -> None:
        """name: of the reader, shared by the replicas."""
        self._bus = bus
        self._stream = stream
        self._seat = Seat(bus, name)
        self._position = 0

    async def run(self, handle: BatchHandler, *, batch: int = 500, pace: float = 0.0) -> None:
        """Reads until cancelled. Raises NotFound without the stream.

        pace: seconds in which what comes close behind a message gathers, to be handled together, which is cheaper;
        what comes first is handled at once.
        """
        while True:
            try:
                self._position = await self._within(await self._seat.take())
                await self._read(handle, batch, pace)
            except SeatLost:
                _log.info("another replica reads on", stream=self._stream)
            except Unavailable as error:
                _log.warning("stream cannot be read, trying again", stream=self._stream, reason=error.detail)
                await asyncio.sleep(_FIRST_PAUSE)

    async def _within(self, position: int) -> int:
        """The position; the beginning when it is of an earlier stream of the name."""
        newest = (await Streams(self._bus).info(self._stream)).state.last_seq
        if position > newest:
            _log.error("stream ends before the place reached, reading from its beginning", stream=self._stream)
            return 0
        return position

    async def _read(self, handle: BatchHandler, batch: int, pace: float) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._record())
                group.create_task(self._handle_all(handle, batch, pace))
        except* (SeatLost, PenstockError) as errors:
            raise errors.exceptions[0] from None
        finally:
            await self._seat.leave(self._position)

    async def _handle_all(self, handle: BatchHandler, batch: int, pace: float) -> None:
        start = Start(after=self._position)
        async with follow(self._bus, self._stream, start, ahead=2 * batch, pace=pace) as feed:
            while True:
                messages = await feed.batch(batch)
                await self._handle(handle, messages)
                self._position = messages[-1].sequence

    async def _handle(self, handle: BatchHandler, messages: Sequence[Delivered]) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                return await handle(messages)
            except Exception as error:  # noqa: BLE001 - nothing may overtake the batch, whatever is wrong with it
                _log.error("reader failed", stream=self._stream, sequence=messages[0].sequence, exc_info=error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _record(self) -> None:
        while True:
            await asyncio.sleep(_RECORD_SECONDS)
            try:
                await self._seat.record(self._position)
            except Unavailable:
                continue  # reading waits for the bus, too
