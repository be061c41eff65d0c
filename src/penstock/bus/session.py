"""One NATS connection from its start to its loss. Connection makes the next one."""

import asyncio
import base64
import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription
from nats.errors import (
    ConnectionClosedError,
    ConnectionDrainingError,
    Error,
    MaxPayloadError,
    OutboundBufferLimitError,
)

from penstock.bus.client import NatsClient
from penstock.bus.credentials import UserCredential
from penstock.bus.nkeys import NKey
from penstock.kernel.errors import Forbidden, TooLarge, Unauthenticated, Unavailable

_log = structlog.get_logger(__name__)
_DENIED = re.compile(r'permissions violation for (publish|subscription) to "([^"]*)"')
_CLOSE_SECONDS = 5.0
_MOST_BUFFERED = 4 * 1024 * 1024
_LIBRARY_PING_SECONDS = 24 * 3600  # `watch` does it
_NO_RESPONDERS = "503"
_LOST = (ConnectionClosedError, ConnectionDrainingError, OSError)


class SessionLost(Exception):
    """The connection ended before the answer came; whether the message arrived is unknown."""


class NoResponders(Exception):
    """Nobody listens on the subject."""


class Session:
    """`lost` is done once the connection is gone; it is never made again on the same Session."""

    def __init__(self, name: str, inbox_prefix: str, silence: float) -> None:
        self.client = NatsClient(self._end)
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._name = name
        self._inbox_prefix = inbox_prefix
        self._silence = silence
        self._inbox = ""
        self._count = 0
        self._questions: dict[str, _Question] = {}
        self._denied: set[str] = set()

    async def open(self, servers: list[str], credential: UserCredential, timeout: float = 5.0) -> None:
        """Raises Unauthenticated when the servers refuse the credential, Unavailable when none answers."""
        key = NKey.from_seed(credential.seed)
        try:
            await self.client.connect(
                servers,
                name=self._name,
                inbox_prefix=self._inbox_prefix,
                user_jwt_cb=lambda: bytearray(credential.jwt.encode()),
                signature_cb=lambda nonce: base64.b64encode(key.sign(nonce.encode())),
                error_cb=self._failed,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=int(timeout),
                ping_interval=_LIBRARY_PING_SECONDS,
                pending_size=0,  # `send` waits instead: the library's wait cannot be cancelled
            )
            self._inbox = self.client.new_inbox() + "."
            await self.client.listen(self._inbox + "*", self._answered)
            _check_not_cancelled()
        except asyncio.CancelledError:
            await self.client.close()
            raise
        except (Error, OSError, TimeoutError) as error:
            await self.client.close()  # nats-py leaves the socket open when the handshake fails
            if "authorization" in str(error).lower() or "authentication" in str(error).lower():
                raise Unauthenticated("The bus refuses the credential") from None
            raise Unavailable(f"The bus does not answer: {error}") from None

    async def close(self) -> None:
        """Sends what is buffered, which takes 5 s at most, and ends the connection."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._round_trip()
        except (SessionLost, TimeoutError):
            self.client.abort()
        with contextlib.suppress(Error, OSError):  # closed is what we want
            await self.client.close()

    async def watch(self) -> None:
        """Returns when the connection is lost; so it is when the server falls silent."""
        while not self.lost.done():
            heard = self.client.stats["in_msgs"]
            await asyncio.wait([self.lost], timeout=self._silence)
            if self.client.stats["in_msgs"] == heard and not await self._is_alive():
                _log.warning("bus server does not answer", connection=self._name)
                self.client.abort()
                self._end()

    async def _is_alive(self) -> bool:
        try:
            async with asyncio.timeout(self._silence):
                await self._round_trip()
        except (SessionLost, TimeoutError):
            return False
        return True

    async def send(self, subject: str, body: bytes, headers: Mapping[str, str] | None = None, reply: str = "") -> None:
        """Hands a message to the socket, after waiting when much is buffered. Raises SessionLost, TooLarge."""
        if self.lost.done():
            raise SessionLost
        if self.client.pending_data_size > _MOST_BUFFERED:
            await self._round_trip()
        try:
            await self.client.publish(subject, body, reply=reply, headers=dict(headers) if headers else None)
        except MaxPayloadError:
            raise TooLarge(f"A message of {len(body)} bytes is more than the bus takes") from None
        except (*_LOST, OutboundBufferLimitError) as error:
            raise SessionLost from error

    async def request(self, subject: str, body: bytes, headers: Mapping[str, str] | None, timeout: float) -> Msg:
        """Raises SessionLost, NoResponders, TimeoutError, Forbidden, TooLarge."""
        return (await self._ask(_Question(subject, lambda _: True), body, headers, timeout))[-1]

    async def collect(self, subject: str, body: bytes, is_last: Callable[[Msg], bool], timeout: float) -> list[Msg]:
        """All answers to one request, up to the one that `is_last`. Raises what `request` raises."""
        return await self._ask(_Question(subject, is_last), body, None, timeout)

    async def _ask(
        self, question: "_Question", body: bytes, headers: Mapping[str, str] | None, timeout: float
    ) -> list[Msg]:
        self._count += 1
        token = str(self._count)
        self._questions[token] = question
        try:
            async with asyncio.timeout(timeout):
                await self.send(question.subject, body, headers, self._inbox + token)
                await question.answered
        finally:
            del self._questions[token]
            question.forget()
        if status_of(question.answers[-1]) == _NO_RESPONDERS:
            raise NoResponders(question.subject)
        return question.answers

    async def subscribe(
        self, subject: str, receive: Callable[[Msg], Awaitable[None]], queue: str = ""
    ) -> ClientSubscription:
        """Returns when the server has taken the subscription. Raises Forbidden, SessionLost.

        What waits for `receive` beyond a bound of the library is dropped.
        """
        return await self._confirmed(subject, self.client.subscribe(subject, queue=queue, cb=receive))

    async def listen(self, subject: str, receive: Callable[[Msg], None]) -> ClientSubscription:
        """As `subscribe`, for what is quick: called while messages are read, so that none waits or is dropped."""
        return await self._confirmed(subject, self.client.listen(subject, receive))

    async def _confirmed(self, subject: str, subscribing: Awaitable[ClientSubscription]) -> ClientSubscription:
        try:
            subscription = await subscribing
        except _LOST as error:
            raise SessionLost from error
        try:
            await self._round_trip()
            if subject.lower() in self._denied:
                raise Forbidden(f"The credential does not allow to listen on '{subject}'")
        except BaseException:
            with contextlib.suppress(Error, OSError):
                await subscription.unsubscribe()
            raise
        return subscription

    async def _round_trip(self) -> None:
        """Returns when the server has read all that was sent. Raises SessionLost."""
        if self.lost.done():
            raise SessionLost
        pong = await self.client.ping()
        await asyncio.wait((pong, self.lost), return_when=asyncio.FIRST_COMPLETED)
        if not pong.done():
            raise SessionLost

    def _answered(self, message: Msg) -> None:
        question = self._questions.get(message.subject[len(self._inbox) :])
        if question is not None:
            question.take(message)

    async def _failed(self, error: Exception) -> None:
        denied = _DENIED.search(str(error))
        if denied is None:
            _log.debug("bus connection reports an error", connection=self._name, error=str(error))
            return
        action, subject = denied.groups()
        _log.warning("bus permission denied", connection=self._name, action=action, subject=subject)
        if action == "publish":
            self._refuse(subject)
        else:
            self._denied.add(subject)

    def _refuse(self, subject: str) -> None:
        # The report names the subject, in lower case, and not the message: all that wait on it fail.
        error = Forbidden(f"The credential does not allow to publish on '{subject}'")
        for question in self._questions.values():
            if question.subject.lower() == subject:
                question.fail(error)

    def _end(self) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        for question in self._questions.values():
            question.fail(SessionLost())


def status_of(message: Msg) -> str | None:
    """The status of a message by which the server itself speaks, like "404".

    Anyone may send a header of that name; but what comes from a stream has a reply subject, or names the stream.
    """
    headers = message.headers
    if not headers or message.data or message.reply or "Nats-Stream" in headers:
        return None
    return headers.get("Status")


class _Question:
    """A request under way."""

    def __init__(self, subject: str, is_last: Callable[[Msg], bool]) -> None:
        self.subject = subject
        self.answers: list[Msg] = []
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_last = is_last

    def take(self, message: Msg) -> None:
        self.answers.append(message)
        if (self._is_last(message) or status_of(message) == _NO_RESPONDERS) and not self.answered.done():
            self.answered.set_result(None)

    def fail(self, error: Exception) -> None:
        if not self.answered.done():
            self.answered.set_exception(error)

    def forget(self) -> None:
        """Nobody waits any more; an error that came too late is no news."""
        if self.answered.done() and not self.answered.cancelled():
            self.answered.exception()


def _check_not_cancelled() -> None:
    """nats-py waits by `asyncio.wait_for`, which before Python 3.12 may lose a cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
