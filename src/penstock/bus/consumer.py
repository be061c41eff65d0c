"""Durable consumers: replicas that run one of the same name share its messages."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Literal

import msgspec
import structlog
from nats.aio.msg import Msg

from penstock.bus.bus import Bus
from penstock.bus.message import Delivered
from penstock.bus.naming import stream_key
from penstock.bus.pull import ConsumerAway, Pull
from penstock.bus.session import SessionLost
from penstock.bus.streams import nanoseconds
from penstock.bus.subscription import is_cancelled
from penstock.kernel.errors import NotFound, PenstockError

_log = structlog.get_logger(__name__)
_NANOSECONDS = 1_000_000_000
_FIRST_DELAY = 1.0
_LONGEST_DELAY = 60.0
_PAUSE = 1.0

ACK = b"+ACK"
_WORKING = b"+WPI"
GIVE_BACK = b"-NAK"
_DISCARD = b"+TERM"

Handler = Callable[[Delivered], Awaitable[None]]
BatchHandler = Callable[[Sequence[Delivered]], Awaitable[None]]


class Unprocessable(Exception):
    """Raised by a handler for a message that no later try can handle: it is not delivered again."""


class Later(Exception):
    """Raised by a handler for a message whose time has not come: it is delivered again after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"in {seconds:g} s")
        self.seconds = seconds


class ConsumerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A durable consumer of a stream.

    subjects: what it takes; empty takes all. start: at the oldest message kept, or at the next new one.
    ack_seconds: how long the messages of a replica that died wait for another. max_deliver: tries per
    message, after which it stays in the stream unhandled; None tries for ever. max_pending: messages in
    hand over all replicas; 1 keeps the stream's order even when a message has to be tried again.
    forget_after: the server forgets the consumer when nobody asks it that long.
    """

    stream: str
    name: str
    subjects: Sequence[str] = ()
    start: Literal["all", "new"] = "all"
    ack_seconds: float = 30.0
    max_deliver: int | None = None
    max_pending: int = 1000
    forget_after: timedelta | None = None
    description: str = ""

    @property
    def path(self) -> str:
        """`<stream>.<consumer>`, as the JetStream API's subjects end."""
        return f"{stream_key(self.stream)}.{stream_key(self.name)}"

    def configuration(self) -> dict[str, Any]:
        """The form of the JetStream API."""
        return {
            "durable_name": stream_key(self.name),
            "name": stream_key(self.name),
            "description": self.description,
            "filter_subjects": list(self.subjects),
            "deliver_policy": self.start,
            "ack_policy": "explicit",
            "ack_wait": int(self.ack_seconds * _NANOSECONDS),
            "max_deliver": -1 if self.max_deliver is None else self.max_deliver,
            "max_ack_pending": self.max_pending,
            "inactive_threshold": nanoseconds(self.forget_after) if self.forget_after is not None else 0,
        }


class Consumer:
    """Runs handlers over a durable consumer's messages; each is acknowledged after its handler returned.

    A message may come more than once: its handler must bear that. While a handler works the server is
    told so, however long it takes. A handler that raises gets the message again after 1 s, 2 s ... 60 s,
    or when its Later says.
    """

    def __init__(self, bus: Bus, spec: ConsumerSpec) -> None:
        self._bus = bus
        self._spec = spec
        self._hand: dict[int, Msg] = {}
        self._waiting: asyncio.Queue[Msg] = asyncio.Queue()
        self._pull: Pull | None = None
        self.handled = 0
        self.failed = 0

    async def ensure(self) -> None:
        """Makes the consumer, or changes it; idempotent. Raises NotFound without its stream, Invalid."""
        await self._bus.api(
            f"CONSUMER.CREATE.{self._spec.path}",
            {"stream_name": stream_key(self._spec.stream), "config": self._spec.configuration()},
            msgspec.Raw,
        )

    async def delete(self) -> None:
        """Forgets what was handled; nothing happens when the consumer does not exist."""
        try:
            await self._bus.api(f"CONSUMER.DELETE.{self._spec.path}", None, msgspec.Raw)
        except NotFound:
            return

    async def run(self, handler: Handler, *, concurrency: int = 1, ahead: int = 64) -> None:
        """Handles messages until cancelled, `concurrency` at a time; `ahead` are fetched beforehand.

        Cancelling gives the messages in hand back, so that another replica has them at once.
        """

        async def handle_one(messages: Sequence[Delivered]) -> None:
            await handler(messages[0])

        await self._run(handle_one, batch=1, concurrency=concurrency, ahead=max(ahead, concurrency))

    async def run_batches(self, handler: BatchHandler, *, batch: int = 100) -> None:
        """Like `run`, with up to `batch` messages at once; those of a batch succeed or fail together."""
        await self._run(handler, batch=batch, concurrency=1, ahead=2 * batch)

    async def _run(self, handler: BatchHandler, *, batch: int, concurrency: int, ahead: int) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fetch(ahead))
                group.create_task(self._report_progress())
                for _ in range(concurrency):
                    group.create_task(self._work(handler, batch))
        finally:
            for message in self._hand.values():
                await self._bus.notify(message.reply, GIVE_BACK)

    async def _fetch(self, ahead: int) -> None:
        while True:
            try:
                await self.ensure()
                session = await self._bus.session()
                async with Pull(session, self._spec.path, ahead, self._take, len(self._hand)) as self._pull:
                    await self._pull.run()
            except SessionLost:
                continue  # the next session is waited for
            except (ConsumerAway, PenstockError) as error:
                _log.warning("consumer does not deliver", consumer=self._spec.path, error=str(error))
                await asyncio.sleep(_PAUSE)

    def _take(self, message: Msg) -> None:
        self._hand[id(message)] = message
        self._waiting.put_nowait(message)

    async def _work(self, handler: BatchHandler, batch: int) -> None:
        while True:
            messages = [await self._waiting.get()]
            while len(messages) < batch and not self._waiting.empty():
                messages.append(self._waiting.get_nowait())
            answers = await self._handle(handler, messages)
            for message, answer in zip(messages, answers, strict=True):
                await self._settle(message, answer)

    async def _handle(self, handler: BatchHandler, messages: list[Msg]) -> list[bytes]:
        """Runs the handler; returns what to tell the server about each message."""
        delivered = [Delivered.of(message) for message in messages]
        try:
            await handler(delivered)
        except Unprocessable as error:
            self.failed += len(messages)
            _log.error("message discarded", consumer=self._spec.path, reason=str(error))
            return [_DISCARD] * len(messages)
        except Later as later:
            return [_in(later.seconds)] * len(messages)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            return self._failed(delivered, error)
        except Exception as error:  # noqa: BLE001 - one bad message must not end the consumer
            return self._failed(delivered, error)
        self.handled += len(messages)
        return [ACK] * len(messages)

    def _failed(self, messages: list[Delivered], error: BaseException) -> list[bytes]:
        self.failed += len(messages)
        _log.error(
            "consumer handler failed",
            consumer=self._spec.path,
            sequence=messages[0].sequence,
            tries=messages[0].tries,
            exc_info=error,
        )
        return [_try_again(message.tries) for message in messages]

    async def _settle(self, message: Msg, answer: bytes) -> None:
        del self._hand[id(message)]
        if self._pull is not None:
            self._pull.release()
        # When the bus is away this is lost and the message comes again: it was promised at least once.
        await self._bus.notify(message.reply, answer)

    async def _report_progress(self) -> None:
        while True:
            await asyncio.sleep(self._spec.ack_seconds / 3)
            for message in list(self._hand.values()):
                await self._bus.notify(message.reply, _WORKING)


def _try_again(tries: int) -> bytes:
    return _in(min(_FIRST_DELAY * 2 ** min(tries - 1, 10), _LONGEST_DELAY) * random.uniform(0.8, 1.2))  # noqa: S311


def _in(seconds: float) -> bytes:
    return GIVE_BACK + b" " + msgspec.json.encode({"delay": int(seconds * _NANOSECONDS)})
