"""The bus as the rest of the platform sees it: durable publish, notices, requests, subscriptions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
import structlog
from nats.aio.msg import Msg

from penstock.bus.connection import Connection, CredentialSource
from penstock.bus.failure import ApiError, error_from, error_headers, refusal
from penstock.bus.message import Ack, Answer, Message, Received
from penstock.bus.naming import stream_name
from penstock.bus.session import NoResponders, Session, SessionLost
from penstock.bus.subscription import Handler, Subscription
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.kernel.ids import new_id

_log = structlog.get_logger(__name__)
__all__ = ["Ack", "Answer", "Bus", "Message", "Received", "Subscription"]
T = TypeVar("T")

PUBLISH_SECONDS = 10.0
_ATTEMPT_SECONDS = 5.0
_PAUSE = 0.1
IN_FLIGHT = 64

Responder = Callable[[Received], Awaitable[bytes | Answer]]


class _Stored(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: ApiError | None = None


_stored = msgspec.json.Decoder(_Stored)


class Bus:
    """One connection to NATS, made again whenever it is lost.

    Every method raises Unavailable when the bus stays away, Forbidden when the credential does not
    allow the subject, TooLarge when a message exceeds what the server takes.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    async def connect(
        cls,
        servers: str | list[str],
        credential: CredentialSource,
        *,
        name: str,
        inbox_prefix: str = "_INBOX",
        silence: float = 10.0,
    ) -> Self:
        """Connects once; from then on the connection is kept. Raises Unavailable, Unauthenticated.

        silence: seconds without a message after which the server must answer, within as many again.
        """
        addresses = [servers] if isinstance(servers, str) else list(servers)
        connection = Connection(addresses, credential, name, inbox_prefix, silence)
        await connection.open()
        return cls(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def connected(self) -> bool:
        return self._connection.connected

    async def close(self) -> None:
        """Stops the subscriptions, letting handlers finish, and disconnects."""
        await self._connection.close()

    async def publish(
        self,
        subject: str,
        body: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        message_id: str | None = None,
        timeout: float = PUBLISH_SECONDS,
    ) -> Ack:
        """Returns when the stream of `subject` has the message on disk.

        Retries under one message id while the bus is away, so the message is stored once.
        Raises Unavailable after `timeout` seconds: the message may still have been stored.
        """
        wanted = {**(headers or {}), "Nats-Msg-Id": message_id or new_id().hex}
        answer = await self._ask(subject, body, wanted, timeout)
        stored = _stored.decode(answer.data)
        if stored.error is not None:
            raise refusal(stored.error)
        return Ack(stream_name(stored.stream), stored.seq, stored.duplicate)

    async def publish_all(
        self, messages: Sequence[Message], *, in_flight: int = IN_FLIGHT, timeout: float = PUBLISH_SECONDS
    ) -> list[Ack]:
        """Publishes with at most `in_flight` unacknowledged; acks come in the order of `messages`.

        The first failure ends it and is raised; any of the messages may then have been stored.
        """
        acks: dict[int, Ack] = {}
        left = iter(enumerate(messages))

        async def publish_some() -> None:
            for index, message in left:
                acks[index] = await self.publish(
                    message.subject,
                    message.body,
                    headers=message.headers,
                    message_id=message.message_id,
                    timeout=timeout,
                )

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(in_flight, len(messages))):
                    group.create_task(publish_some())
        except* PenstockError as failures:
            raise failures.exceptions[0] from None
        return [acks[index] for index in range(len(messages))]

    async def notify(
        self, subject: str, body: bytes = b"", headers: Mapping[str, str] | None = None, *, reply: str = ""
    ) -> None:
        """Tells whoever listens now; while the bus is away the message is dropped."""
        session = self._connection.current()
        try:
            if session is not None:
                await session.send(subject, body, headers, reply)
                return
        except SessionLost:
            pass
        _log.debug("notice dropped, the bus is away", subject=subject)

    async def request(
        self,
        subject: str,
        body: bytes = b"",
        *,
        timeout: float = 5.0,
        headers: Mapping[str, str] | None = None,
    ) -> Received:
        """Asks once. Raises what the responder raised (by its code); Unavailable when nobody answers."""
        now = asyncio.get_running_loop().time
        deadline = now() + timeout
        session = await self._connection.session(deadline)
        try:
            answer = Received.of(await session.request(subject, body, headers, deadline - now()))
        except (NoResponders, SessionLost, TimeoutError):
            raise Unavailable(f"Nobody answers on '{subject}'") from None
        error = error_from(answer.headers)
        if error is not None:
            raise error
        return answer

    async def subscribe(self, subject: str, handler: Handler, *, queue: str = "", concurrency: int = 1) -> Subscription:
        """Calls `handler` with each message, until `stop()`. In a `queue` group one member gets each."""
        subscription = Subscription(
            subject, handler, queue=queue, concurrency=concurrency, on_stop=self._connection.unsubscribe
        )
        deadline = asyncio.get_running_loop().time() + PUBLISH_SECONDS
        try:
            await self._connection.subscribe(subscription, deadline)
        except BaseException:
            await subscription.cancel()
            raise
        return subscription

    async def respond(self, subject: str, responder: Responder, *, queue: str, concurrency: int = 32) -> Subscription:
        """Answers requests. A PenstockError reaches the requester as itself, any other error as a plain one."""

        async def answer(request: Received) -> None:
            if not request.reply:
                _log.warning("request without reply subject", subject=request.subject)
                return
            body, headers = await _answer(responder, request)
            await self.notify(request.reply, body, headers)

        return await self.subscribe(subject, answer, queue=queue, concurrency=concurrency)

    async def api(self, name: str, payload: Any, answer: type[T], *, timeout: float = PUBLISH_SECONDS) -> T:
        """One request to the JetStream API (`$JS.API.<name>`). Raises what `refusal` makes of its error."""
        body = b"" if payload is None else msgspec.json.encode(payload)
        message = await self._ask(f"$JS.API.{name}", body, None, timeout)
        error = msgspec.json.decode(message.data, type=_Stored).error
        if error is not None:
            raise refusal(error)
        return msgspec.json.decode(message.data, type=answer)

    async def session(self, timeout: float = PUBLISH_SECONDS) -> Session:
        """The open session, for the parts of the bus that speak the protocol themselves."""
        return await self._connection.session(asyncio.get_running_loop().time() + timeout)

    async def collect(
        self, subject: str, body: bytes, is_last: Callable[[Msg], bool], *, timeout: float = PUBLISH_SECONDS
    ) -> list[Msg]:
        """All answers of the server to one repeatable request, up to the one that `is_last`."""
        return await self.repeat(
            subject, timeout, lambda session, seconds: session.collect(subject, body, is_last, seconds)
        )

    async def _ask(self, subject: str, body: bytes, headers: Mapping[str, str] | None, timeout: float) -> Msg:
        return await self.repeat(
            subject, timeout, lambda session, seconds: session.request(subject, body, headers, seconds)
        )

    async def repeat(self, subject: str, timeout: float, attempt: Callable[[Session, float], Awaitable[T]]) -> T:
        """Repeats a request that may safely be repeated until it is answered; for the parts of the bus.

        attempt: gets a session and the seconds that it may take; raises SessionLost, TimeoutError or NoResponders
        to be called again.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + timeout
        while True:
            session = await self._connection.session(deadline)
            try:
                return await attempt(session, min(_ATTEMPT_SECONDS, max(deadline - now(), 0.001)))
            except (SessionLost, TimeoutError):
                reason = "The bus does not answer"
            except NoResponders:
                # Also while a cluster elects the stream's leader, which takes seconds.
                reason = f"Nothing stores or serves '{subject}'"
            if now() + _PAUSE > deadline:
                raise Unavailable(reason)
            await asyncio.sleep(_PAUSE)


async def _answer(responder: Responder, request: Received) -> tuple[bytes, Mapping[str, str] | None]:
    try:
        answer = await responder(request)
    except PenstockError as error:
        return b"", error_headers(error)
    except Exception as error:  # noqa: BLE001 - the requester must get an answer; the cause goes to the log
        _log.error("bus responder failed", subject=request.subject, exc_info=error)
        return b"", error_headers(PenstockError("The request failed at the other side"))
    return (answer.body, answer.headers) if isinstance(answer, Answer) else (answer, None)
