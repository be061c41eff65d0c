"""A subscription that outlives connections, and the workers that handle what it receives."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription
from nats.errors import Error as NatsError

from penstock.bus.message import Received
from penstock.bus.session import Session

_log = structlog.get_logger(__name__)
_WAITING = 1024
_DRAIN_SECONDS = 5.0

Handler = Callable[[Received], Awaitable[None]]


class Subscription:
    """Messages wait in a queue for `concurrency` workers; one worker keeps their order.

    A handler that raises is logged, and counted in `failures`; the next message follows.
    """

    def __init__(
        self,
        subject: str,
        handler: Handler,
        *,
        queue: str = "",
        concurrency: int = 1,
        on_stop: Callable[["Subscription"], Awaitable[None]],
    ) -> None:
        self.subject = subject
        self.failures = 0
        self._handler = handler
        self._queue_group = queue
        self._on_stop = on_stop
        self._waiting: asyncio.Queue[Msg] = asyncio.Queue(_WAITING)
        self._current: ClientSubscription | None = None
        self._workers = [
            asyncio.create_task(self._work(), name=f"bus subscription {subject}") for _ in range(concurrency)
        ]

    async def stop(self) -> None:
        """Takes no more messages and returns when those received are handled."""
        await self._on_stop(self)

    async def attach(self, session: Session) -> None:
        """Listens on `session`, after which the one before is forgotten. Raises Forbidden, SessionLost."""
        self._current = await session.subscribe(self.subject, self._waiting.put, self._queue_group)

    async def detach(self) -> None:
        """Ends the subscription at the server; the workers get 5 s for what has been received."""
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._drain()
                await self._waiting.join()
        except TimeoutError:
            _log.warning("bus handlers did not finish in time", subject=self.subject)
        await self.cancel()

    async def _drain(self) -> None:
        if self._current is not None:
            with contextlib.suppress(NatsError):  # gone with its connection
                await self._current.drain()  # type: ignore[no-untyped-call]

    async def cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.wait(self._workers)

    async def _work(self) -> None:
        while True:
            message = await self._waiting.get()
            try:
                await self._handler(Received.of(message))
            except asyncio.CancelledError as error:
                if is_cancelled():
                    raise
                self._failed(message, error)
            except Exception as error:  # noqa: BLE001 - one bad message must not end the subscription
                self._failed(message, error)
            finally:
                self._waiting.task_done()

    def _failed(self, message: Msg, error: BaseException) -> None:
        self.failures += 1
        _log.error("bus handler failed", subject=message.subject, exc_info=error)


def is_cancelled() -> bool:
    """Whether the running task itself is being cancelled, rather than something that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
