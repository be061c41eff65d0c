"""A durable queue that is asked for messages now and then, where a Consumer would wait for them."""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from penstock.bus.bus import Bus
from penstock.bus.consumer import ACK, GIVE_BACK, Consumer, ConsumerSpec
from penstock.bus.message import Delivered
from penstock.bus.session import Session, SessionLost, status_of
from penstock.kernel.errors import NotFound, Unavailable

_NOBODY = "503"
_ANSWER_SECONDS = 5.0
_MOST_BYTES = 16 * 1024 * 1024


class Taken:
    """Messages in hand: theirs whom they were given to, until they are acknowledged or given back."""

    def __init__(self, bus: Bus, messages: Sequence[Msg]) -> None:
        self._bus = bus
        self._replies = [message.reply for message in messages]
        self.messages = [Delivered.of(message) for message in messages]

    async def acknowledge(self) -> None:
        """They are not given out again. When the bus is away they are, later: it is at least once."""
        await self._answer(ACK)

    async def give_back(self) -> None:
        """They are given out again at once, and not only after `ack_seconds`."""
        await self._answer(GIVE_BACK)

    async def _answer(self, answer: bytes) -> None:
        for reply in self._replies:
            await self._bus.notify(reply, answer)


class Queue:
    """A queue on a stream: each message is given out until it is acknowledged.

    forget_after: the queue is gone when nobody asks it that long. ack_seconds: how long messages in hand wait for
    their acknowledgement.
    """

    def __init__(
        self,
        bus: Bus,
        stream: str,
        name: str,
        *,
        forget_after: timedelta | None = None,
        ack_seconds: float = 30.0,
        description: str = "",
    ) -> None:
        self._bus = bus
        self._spec = ConsumerSpec(
            stream=stream,
            name=name,
            forget_after=forget_after,
            ack_seconds=ack_seconds,
            description=description,
        )

    async def make(self, start: Literal["all", "new"]) -> None:
        """Makes the queue when there is none: with the messages kept, or those from now on. Raises NotFound."""
        if not await self.exists():
            await Consumer(self._bus, msgspec.structs.replace(self._spec, start=start)).ensure()

    async def exists(self) -> bool:
        try:
            await self._bus.api(f"CONSUMER.INFO.{self._spec.path}", None, msgspec.Raw)
        except NotFound:
            return False
        return True

    async def take(self, most: int) -> Taken:
        """Up to `most` messages that are there now, in the stream's order, and not more than 16 MiB of them.

        Raises NotFound without the queue.
        """
        session = await self._bus.session()
        asking = _Asking(session, most)
        request = {"batch": most, "max_bytes": _MOST_BYTES, "no_wait": True}
        try:
            messages = await asking.ask(f"$JS.API.CONSUMER.MSG.NEXT.{self._spec.path}", msgspec.json.encode(request))
        except (SessionLost, TimeoutError):
            # What was on its way comes again.
            raise Unavailable("The bus does not answer") from None
        return Taken(self._bus, messages)


class _Asking:
    """One request for messages. They arrive under the subjects of their stream, so it needs an inbox of its own."""

    def __init__(self, session: Session, most: int) -> None:
        self._session = session
        self._inbox = session.client.new_inbox()
        self._left = most
        self._messages: list[Msg] = []
        self._ended: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    async def ask(self, subject: str, body: bytes) -> list[Msg]:
        """Raises SessionLost, TimeoutError, NotFound."""
        async with asyncio.timeout(_ANSWER_SECONDS):
            subscription = await self._session.listen(self._inbox, self._arrived)
            try:
                await self._session.send(subject, body, reply=self._inbox)
                await asyncio.wait((self._ended, self._session.lost), return_when=asyncio.FIRST_COMPLETED)
            finally:
                with contextlib.suppress(NatsError):  # gone with its connection
                    await subscription.unsubscribe()
        if not self._ended.done():
            raise SessionLost
        if self._ended.result() == _NOBODY:
            raise NotFound("the queue does not exist")
        return self._messages

    def _arrived(self, message: Msg) -> None:
        status = status_of(message)
        if status is None:
            self._messages.append(message)
            self._left -= 1
        if (status is not None or self._left <= 0) and not self._ended.done():
            self._ended.set_result(status)
