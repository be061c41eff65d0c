"""Fetching a consumer's messages over one session, with requests always outstanding."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription
from nats.errors import Error as NatsError

from penstock.bus.session import Session, SessionLost, status_of

_EXPIRES = 30.0
_HEARTBEAT = 5.0
_NANOSECONDS = 1_000_000_000
_STILL_HERE = "100"
_EXPIRED = "408"
_NO_MESSAGES = "404"

# How a request is answered: by messages as they come, or by those that are there.
_AS_THEY_COME = {"expires": int(_EXPIRES * _NANOSECONDS), "idle_heartbeat": int(_HEARTBEAT * _NANOSECONDS)}
_AT_ONCE = {"no_wait": True}


class ConsumerAway(Exception):
    """The consumer serves no more: it is deleted, or it moved to another server."""


class Pull:
    """Asks for up to `capacity` messages at a time; `receive` gets each.

    The credit that a message took is given back with `release`, when it is handled.
    """

    def __init__(
        self,
        session: Session,
        consumer: str,
        capacity: int,
        receive: Callable[[Msg], None],
        held: int,
    ) -> None:
        """consumer: `<stream>.<name>`. held: messages in hand from earlier sessions."""
        self._session = session
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{consumer}"
        self._capacity = capacity
        self._receive = receive
        self._held = held
        self._requested = 0
        self._count = 0
        self._inbox = session.client.new_inbox()
        self._subscription: ClientSubscription | None = None
        self._changed = asyncio.Event()
        self._away: str | None = None
        self._heard = 0.0

    async def __aenter__(self) -> Self:
        self._session.lost.add_done_callback(self._wake)
        self._subscription = await self._session.listen(self._inbox, self._arrived)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.lost.remove_done_callback(self._wake)
        if self._subscription is not None:
            with contextlib.suppress(NatsError):  # gone with its connection
                await self._subscription.unsubscribe()

    def release(self) -> None:
        self._held -= 1
        if self._wanted():
            self._changed.set()

    async def run(self) -> None:
        """Requests as room comes up. Ends by SessionLost or ConsumerAway."""
        while True:
            wanted = self._wanted()
            if wanted:
                await self._request(wanted, _AS_THEY_COME)
            await self._news()

    async def run_paced(self, pace: float) -> None:
        """As `run`, but asks for what is behind a message `pace` seconds later, so that it comes together.

        To be woken for each message costs more than the message.
        """
        while True:
            came = await self._exchange(1, _AS_THEY_COME)
            while came:
                await asyncio.sleep(pace)
                came = await self._all_there()

    async def _all_there(self) -> int:
        """Fetches what there is now; how many messages that were."""
        total = 0
        while True:
            while self._held >= self._capacity:
                await self._news()
            room = self._capacity - self._held
            came = await self._exchange(room, _AT_ONCE)
            total += came
            if came < room:
                return total

    async def _exchange(self, count: int, manner: Mapping[str, Any]) -> int:
        """Requests up to `count` messages; how many had come when the request ended."""
        before = self._count
        await self._request(count, manner)
        while self._requested:
            await self._news()
        return self._count - before

    async def _news(self) -> None:
        """Waits for a change, or a moment. Raises SessionLost, ConsumerAway."""
        try:
            async with asyncio.timeout(_HEARTBEAT):
                await self._changed.wait()
        except TimeoutError:
            if self._requested and asyncio.get_running_loop().time() - self._heard > 2 * _HEARTBEAT:
                raise ConsumerAway("it is silent") from None
        self._changed.clear()
        if self._session.lost.done():
            raise SessionLost
        if self._away is not None:
            raise ConsumerAway(self._away)

    def _wanted(self) -> int:
        """How many messages to ask for; asking for a few at a time would cost a request for each."""
        free = self._capacity - self._held - self._requested
        return max(free, 0) if free > self._capacity // 2 or self._requested == 0 else 0

    def _wake(self, _: asyncio.Future[None]) -> None:
        self._changed.set()

    async def _request(self, count: int, manner: Mapping[str, Any]) -> None:
        self._requested += count
        self._heard = asyncio.get_running_loop().time()
        request = msgspec.json.encode({"batch": count, **manner})
        await self._session.send(self._subject, request, reply=self._inbox)

    def _arrived(self, message: Msg) -> None:
        self._heard = asyncio.get_running_loop().time()
        status = status_of(message)
        if status is None:
            self._requested -= 1
            self._held += 1
            self._count += 1
            self._receive(message)
            if self._requested and not self._wanted():
                return
        elif status in (_EXPIRED, _NO_MESSAGES):
            self._requested -= int((message.headers or {}).get("Nats-Pending-Messages", self._requested))
        elif status != _STILL_HERE:
            description = (message.headers or {}).get("Description", "")
            self._away = description.partition("\n")[0] or status
        self._changed.set()
