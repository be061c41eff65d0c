"""Reading a stream's messages without a consumer, newest first or after a sequence."""

from datetime import datetime
from typing import Any

import msgspec
from nats.aio.msg import Msg

from penstock.bus.bus import Bus
from penstock.bus.message import StoredMessage, time_of
from penstock.bus.naming import stream_key
from penstock.bus.session import status_of
from penstock.bus.streams import StreamInfo, Streams

_PAGE = 500
_PAGE_BYTES = 16 * 1024 * 1024


class _Probe(msgspec.Struct, frozen=True):
    """The first message at or after some place. live: messages from it to the end, gaps not counted."""

    sequence: int
    live: int


class StreamReader:
    """Reads by the server's direct access: a page costs a few requests, however long the stream is.

    The server tells with each message how many follow it. Where messages are missing (deleted,
    expired, of other subjects) that number finds the place of a page by bisection.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._streams = Streams(bus)

    async def newest(
        self,
        stream: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        skip: int = 0,
        count: int = 100,
        subject: str | None = None,
    ) -> list[StoredMessage]:
        """Messages from `since` to `until` (both inclusive), newest first, without the first `skip`.

        subject: only these, wildcards allowed. While messages arrive a page may shift by as many.
        Raises NotFound without the stream.
        """
        view = _View(self._bus, await self._streams.info(stream), subject)
        newer = await view.live_from_time(_after(until)) if until is not None else 0
        total = await view.live_from_time(since) if since is not None else await view.live_from(1)
        first = min(newer + skip + count, total)
        wanted = first - newer - skip
        if wanted <= 0:
            return []
        messages = await view.read(await view.place_of(first), wanted)
        return [m for m in reversed(messages) if _within(m.time, since, until)]

    async def after(
        self, stream: str, sequence: int, *, count: int = 100, subject: str | None = None
    ) -> list[StoredMessage]:
        """Up to `count` messages after `sequence`, oldest first. Raises NotFound without the stream."""
        view = _View(self._bus, await self._streams.info(stream), subject)
        return await view.read(sequence + 1, count)

    async def first_since(self, stream: str, time: datetime) -> int | None:
        """The sequence of the first message as new as `time` or newer. Raises NotFound without the stream."""
        return await _View(self._bus, await self._streams.info(stream), None).first_since(time)


class _View:
    """The messages of one stream, or those of one subject in it."""

    def __init__(self, bus: Bus, info: StreamInfo, subject: str | None) -> None:
        self._bus = bus
        self._info = info
        self._subject = subject

    async def live_from(self, sequence: int) -> int:
        """How many messages there are from `sequence` on."""
        probe = await self._probe({"seq": sequence})
        return probe.live if probe is not None else 0

    async def live_from_time(self, time: datetime) -> int:
        """How many messages are as new as `time` or newer."""
        probe = await self._probe({"start_time": time.isoformat()})
        return probe.live if probe is not None else 0

    async def first_since(self, time: datetime) -> int | None:
        """The sequence of the first message as new as `time` or newer."""
        probe = await self._probe({"start_time": time.isoformat()})
        return probe.sequence if probe is not None else None

    async def place_of(self, live: int) -> int:
        """The sequence from which on there are `live` messages."""
        state = self._info.state
        low, high = state.first_seq, state.last_seq
        guess = high - live + 1  # exact when nothing is missing
        while low < high:
            probe = await self._probe({"seq": max(guess, low)})
            if probe is not None and probe.live == live:
                return probe.sequence
            if probe is not None and probe.live > live:
                low = probe.sequence + 1
            else:
                high = max(guess, low)
            guess = (low + high) // 2
        return low

    async def read(self, sequence: int, count: int) -> list[StoredMessage]:
        """Up to `count` messages from `sequence` on, oldest first."""
        read: list[StoredMessage] = []
        while len(read) < count:
            page = await self._get({"seq": max(sequence, 1)}, min(_PAGE, count - len(read)))
            if not page:
                break
            read += [_stored(message) for message in page]
            sequence = read[-1].sequence + 1
        return read

    async def _probe(self, place: dict[str, Any]) -> _Probe | None:
        found = await self._get(place, 1)
        if not found:
            return None
        headers = found[0].headers or {}
        return _Probe(int(headers["Nats-Sequence"]), int(headers["Nats-Num-Pending"]) + 1)

    async def _get(self, place: dict[str, Any], count: int) -> list[Msg]:
        filter_ = {"next_by_subj": self._subject} if self._subject is not None else {}
        answers = await self._bus.collect(
            f"$JS.API.DIRECT.GET.{stream_key(self._info.name)}",
            msgspec.json.encode({**place, **filter_, "batch": count, "max_bytes": _PAGE_BYTES}),
            _is_end,
        )
        return answers[:-1]


def _is_end(message: Msg) -> bool:
    return status_of(message) is not None


def _stored(message: Msg) -> StoredMessage:
    headers = dict(message.headers or {})
    del headers["Nats-Stream"]
    headers.pop("Nats-Num-Pending", None)
    headers.pop("Nats-Last-Sequence", None)
    return StoredMessage(
        subject=headers.pop("Nats-Subject"),
        sequence=int(headers.pop("Nats-Sequence")),
        time=time_of(headers.pop("Nats-Time-Stamp")),
        headers=headers,
        data=message.data,
    )


def _after(time: datetime) -> datetime:
    """The next instant that a Python time can hold; messages of the microsecond itself count as `until`."""
    return time + time.resolution


def _within(time: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or time >= since) and (until is None or time <= until)
