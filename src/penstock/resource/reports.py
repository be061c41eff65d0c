"""What agents report, taken in: one stream, from which every replica takes its share, and nothing is lost before."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

import msgspec
import structlog

from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer, ConsumerSpec
from penstock.bus.message import Delivered
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import Wire
from penstock.protocol import subjects
from penstock.store.store import decode

log = structlog.get_logger(__name__)

R = TypeVar("R", bound=Wire)
Take = Callable[[Sequence[tuple[UUID, R]]], Awaitable[None]]
"""Takes reports with the agents that sent them. The same report may come again."""

_STREAM = StreamSpec(
    name=subjects.REPORT_STREAM,
    subjects=[subjects.report("*", kind) for kind in subjects.REPORT_KINDS],
    description="what agents report, until it is taken in",
    work_queue=True,
)
_AT_ONCE = 50


class AgentReports:
    """The stream of reports."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def consume(self, kind: str, report: type[R], take: Take[R]) -> None:
        """Takes reports of one kind, several at once, until cancelled.

        One that cannot be read, or that `take` finds Invalid, is logged and dropped: no later try could take it.
        """
        await Streams(self._bus).ensure(_STREAM)
        subject = subjects.report("*", kind)
        spec = ConsumerSpec(stream=_STREAM.name, name=f"reports-{kind}", subjects=[subject])

        async def handle(messages: Sequence[Delivered]) -> None:
            read = [found for message in messages if (found := _read(message, report)) is not None]
            try:
                await take(read)
            except Invalid:
                for one in read:
                    await _take_one(one, take)

        await Consumer(self._bus, spec).run_batches(handle, batch=_AT_ONCE)


async def _take_one(one: tuple[UUID, R], take: Take[R]) -> None:
    try:
        await take([one])
    except Invalid as error:
        log.error("report dropped", agent=str(one[0]), reason=error.detail)


def _read(message: Delivered, report: type[R]) -> tuple[UUID, R] | None:
    try:
        return subjects.agent_of(message.subject), decode(message.data, report)
    except (msgspec.DecodeError, ValueError) as error:
        log.error("unreadable report dropped", subject=message.subject, reason=str(error))
        return None
