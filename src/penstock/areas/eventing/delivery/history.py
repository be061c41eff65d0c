"""Replay of what happened: accepted events delivered once more to one channel."""

from collections.abc import Sequence
from datetime import datetime

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.streams import channel_subject
from penstock.bus.batch import publish_batch
from penstock.bus.bus import Bus
from penstock.bus.message import Message, StoredMessage
from penstock.bus.reader import StreamReader
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_key
from penstock.kernel.wire import Int32, Int64, Wire
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import CHANNELS, EVENTS, ORIGIN

_PAGE = 500
MOST = 10_000


class ReplayRequest(Wire):
    """Which accepted events to deliver again to a channel.

    FromDate, ToDate: when they were accepted, both included. EventType, Source: only these. All: also those that did
    not go to the channel at the time. AfterSequence: goes on behind the LastSequence of an answer. Limit: how many
    events are looked through at most, 10000 unless given.
    """

    channel: str
    from_date: datetime
    to_date: datetime
    event_type: str | None = None
    source: str | None = None
    all: bool = False
    after_sequence: Int64 | None = None
    limit: Int32 | None = None


class ReplayResult(Wire):
    """Replayed: how many events the channel got again. LastSequence: the last one that was looked at.

    Complete: whether the whole range was looked through; if not, ask again with AfterSequence.
    """

    replayed: Int64
    last_sequence: Int64
    complete: bool


class HistoryReplay:
    """Reads the stream of accepted events and writes to the channel's stream, in the order of acceptance."""

    def __init__(self, bus: Bus, channels: ChannelService) -> None:
        self._bus = bus
        self._channels = channels
        self._reader = StreamReader(bus)

    async def replay(self, wanted: ReplayRequest) -> ReplayResult:
        """Raises NotFound without the channel, Invalid."""
        limit = _limit(wanted)
        channel = (await self._channels.resource.named(wanted.channel)).name
        last = await self._begin(wanted) - 1
        replay, replayed, looked = new_id().hex, 0, 0
        while looked < limit:
            page = await self._page(last, min(_PAGE, limit - looked))
            within = [message for message in page if message.time <= wanted.to_date]
            chosen = [message for message in within if _is_wanted(message, wanted, channel)]
            await publish_batch(self._bus, [_again(channel, message, replay) for message in chosen])
            replayed, looked = replayed + len(chosen), looked + len(within)
            last = within[-1].sequence if within else last
            if not page or len(within) < len(page):
                return ReplayResult(replayed=replayed, last_sequence=max(last, 0), complete=True)
        return ReplayResult(replayed=replayed, last_sequence=max(last, 0), complete=False)

    async def _begin(self, wanted: ReplayRequest) -> int:
        if wanted.after_sequence is not None:
            return wanted.after_sequence + 1
        try:
            first = await self._reader.first_since(EVENTS, wanted.from_date)
        except NotFound:
            first = None
        return first if first is not None else 2**62

    async def _page(self, after: int, count: int) -> Sequence[StoredMessage]:
        try:
            return await self._reader.after(EVENTS, after, count=count)
        except NotFound:
            return ()


def _limit(wanted: ReplayRequest) -> int:
    errors = []
    limit = MOST if wanted.limit is None else wanted.limit
    if not 1 <= limit <= MOST:
        errors.append(FieldError("Limit", f"must be 1 to {MOST}"))
    if wanted.to_date < wanted.from_date:
        errors.append(FieldError("ToDate", "must not be before FromDate"))
    if wanted.after_sequence is not None and wanted.after_sequence < 0:
        errors.append(FieldError("AfterSequence", "must be at least 0"))
    if errors:
        raise Invalid(errors)
    return limit


def _is_wanted(message: StoredMessage, wanted: ReplayRequest, channel: str) -> bool:
    if not wanted.all and name_key(channel) not in map(name_key, message.headers.get(CHANNELS, "").split(",")):
        return False
    if wanted.event_type is None and wanted.source is None:
        return True
    event = CloudEvent.from_json(message.data)
    return wanted.event_type in (None, event.type) and wanted.source in (None, event.source)


def _again(channel: str, message: StoredMessage, replay: str) -> Message:
    return Message(
        subject=channel_subject(channel),
        body=message.data,
        headers={ORIGIN: str(message.sequence)},
        message_id=f"replay-{replay}-{message.sequence}",
    )
