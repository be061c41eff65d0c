"""Atomic batches: messages of one stream that are stored together, or not at all (NATS 2.12, ADR-50)."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
from nats.aio.msg import Msg

from penstock.bus.bus import PUBLISH_SECONDS, Bus
from penstock.bus.failure import ApiError, refusal
from penstock.bus.message import NO_HEADERS, Ack, Message
from penstock.bus.naming import stream_name
from penstock.bus.session import Session
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.kernel.ids import new_id

MOST = 500
"""Messages in a batch; the server takes up to 1,000."""
MOST_BYTES = 4 * 1024 * 1024

_DUPLICATE = 10201  # a message of the batch is stored already, so none was stored now


class _Committed(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    count: int = 0
    error: ApiError | None = None


_committed = msgspec.json.Decoder(_Committed)


async def publish_batch(bus: Bus, messages: Sequence[Message], *, timeout: float = PUBLISH_SECONDS) -> list[Ack]:
    """Returns when the stream, which must be `atomic`, has all messages on disk, in this order and in a row.

    More than a batch holds are several batches, one after the other. Messages without id get one, so that what was
    stored before an answer was lost is not stored again. Where some of a batch are stored already, the others
    are published one by one. Raises what `Bus.publish` raises: any of the messages may then have been stored.
    """
    acks: list[Ack] = []
    named = [message if message.message_id else _with_id(message) for message in messages]
    for batch in _batches(named):
        acks += await _publish_one_batch(bus, batch, timeout)
    return acks


class Batches:
    """Lets callers that publish to one stream at the same time share batches.

    While a batch is on its way the messages of those that come meanwhile gather for the next one.
    """

    def __init__(self, bus: Bus, *, timeout: float = PUBLISH_SECONDS) -> None:
        """timeout: seconds that one batch may take."""
        self._bus = bus
        self._timeout = timeout
        self._waiting: deque[_Entry] = deque()
        self._leader: _Entry | None = None

    async def publish(self, messages: Sequence[Message]) -> list[Ack]:
        """As `publish_batch`. One caller's messages stay in a row; another's that are refused do not harm them."""
        if not messages:
            return []
        entry = _Entry(messages)
        self._waiting.append(entry)
        try:
            if self._leader is None:
                self._leader = entry
            else:
                await entry.woken
            if self._leader is entry:
                await self._lead()
        finally:
            self._forget(entry)
            if self._leader is entry:
                self._pass_on()
        return entry.acks()

    async def _lead(self) -> None:
        entries = self._take()
        try:
            await self._publish(entries)
        finally:
            # Cancelled: the next leader publishes the others', under the same message ids.
            self._waiting.extendleft(entry for entry in reversed(entries) if not entry.done)

    async def _publish(self, entries: "Sequence[_Entry]") -> None:
        """Settles every entry."""
        messages = [message for entry in entries for message in entry.messages]
        try:
            acks = iter(await publish_batch(self._bus, messages, timeout=self._timeout))
        except PenstockError as error:
            if len(entries) > 1 and not isinstance(error, Unavailable):
                for entry in entries:
                    await self._publish([entry])
                return
            for entry in entries:
                entry.settle(error)
        else:
            for entry in entries:
                entry.settle(list(islice(acks, len(entry.messages))))

    def _take(self) -> "list[_Entry]":
        """The entries that fill one batch; the first in any case."""
        taken = [self._waiting.popleft()]
        count, size = len(taken[0].messages), taken[0].size
        while self._waiting:
            following = self._waiting[0]
            count, size = count + len(following.messages), size + following.size
            if count > MOST or size > MOST_BYTES:
                break
            taken.append(self._waiting.popleft())
        return taken

    def _forget(self, entry: "_Entry") -> None:
        entry.done = True
        if entry in self._waiting:
            self._waiting.remove(entry)

    def _pass_on(self) -> None:
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.wake()


class _Entry:
    """What one caller wants published. woken: when it is done, or its caller's turn to lead."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = [message if message.message_id else _with_id(message) for message in messages]
        self.size = sum(map(_size, messages))
        self.woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done = False
        self._outcome: list[Ack] | PenstockError = []

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)

    def settle(self, outcome: list[Ack] | PenstockError) -> None:
        self._outcome = outcome
        self.done = True
        self.wake()

    def acks(self) -> list[Ack]:
        if isinstance(self._outcome, PenstockError):
            raise self._outcome
        return self._outcome


async def _publish_one_batch(bus: Bus, messages: Sequence[Message], timeout: float) -> list[Ack]:
    if len(messages) == 1:
        only = messages[0]
        return [
            await bus.publish(
                only.subject, only.body, headers=only.headers, message_id=only.message_id, timeout=timeout
            )
        ]

    async def attempt(session: Session, seconds: float) -> Msg:
        return await _send(session, messages, seconds)

    answer = _committed.decode((await bus.repeat(messages[-1].subject, timeout, attempt)).data)
    if answer.error is None:
        stream, first = stream_name(answer.stream), answer.seq - len(messages) + 1
        return [Ack(stream, first + index) for index in range(len(messages))]
    if answer.error.err_code == _DUPLICATE:
        return await bus.publish_all(messages, in_flight=1, timeout=timeout)
    raise refusal(answer.error)


async def _send(session: Session, messages: Sequence[Message], seconds: float) -> Msg:
    """Sends a batch and returns the answer to its last message, which commits it."""
    batch = new_id().hex
    for number, message in enumerate(messages[:-1], start=1):
        await session.send(message.subject, message.body, _headers(message, batch, number))
    last = messages[-1]
    headers = {**_headers(last, batch, len(messages)), "Nats-Batch-Commit": "1"}
    return await session.request(last.subject, last.body, headers, seconds)


def _headers(message: Message, batch: str, number: int) -> dict[str, str]:
    return {
        **(message.headers or NO_HEADERS),
        "Nats-Msg-Id": message.message_id or "",
        "Nats-Batch-Id": batch,
        "Nats-Batch-Sequence": str(number),
    }


def _batches(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    batch: list[Message] = []
    size = 0
    for message in messages:
        size += _size(message)
        if batch and (len(batch) == MOST or size > MOST_BYTES):
            yield batch
            batch, size = [], _size(message)
        batch.append(message)
    if batch:
        yield batch


def _size(message: Message) -> int:
    size = len(message.body)
    for name, value in (message.headers or NO_HEADERS).items():
        size += len(name) + len(value)
    return size


def _with_id(message: Message) -> Message:
    return msgspec.structs.replace(message, message_id=new_id().hex)
