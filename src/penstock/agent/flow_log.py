"""What flows log: bounded, passed on to the outbox, and the last lines of each kept for who asks how it is."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from penstock.agent.log_limit import LINES, LogLimit
from penstock.agent.outbox import Outbox
from penstock.flow.listener import Level, LogEntry
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id
from penstock.protocol.report import LogLine
from penstock.protocol.status import IntegrationLogMessage

_LONGEST = 64 * 1024  # characters of a message or trace
_LAST = 5
_SHOWN = 500
_TELL_SECONDS = 2.0
T = TypeVar("T", str, str | None)


class FlowLog:
    """`serve` tells what was dropped, as a task."""

    def __init__(self, outbox: Outbox, clock: Clock, limit: LogLimit) -> None:
        self._outbox = outbox
        self._clock = clock
        self._limit = limit
        self._last: dict[str, deque[LogLine]] = {}

    def add(self, entry: LogEntry) -> None:
        """Takes a line, unless its flow has logged too much lately."""
        size = len(entry.message) + len(entry.stack_trace or "")
        if self._limit.takes(entry.flow, size):
            self._pass_on(
                LogLine(
                    id=new_id(),
                    at=entry.at,
                    flow=entry.flow,
                    level=entry.level,
                    message=_cut(entry.message, _LONGEST),
                    exchange_id=entry.exchange_id,
                    exception_type=entry.exception_type,
                    exception_message=_cut(entry.exception_message, _LONGEST),
                    stack_trace=_cut(entry.stack_trace, _LONGEST),
                    context={"Logger": entry.logger, "Version": entry.version},
                )
            )

    def tell(self, flow: str, level: Level, message: str) -> None:
        """Adds a line of the agent's own about the flow."""
        self._pass_on(LogLine(id=new_id(), at=self._clock.now(), flow=flow, level=level, message=message))

    def last(self, flow: str) -> Sequence[IntegrationLogMessage]:
        """The last lines of the flow, the latest first, long ones cut."""
        return [_shown(line) for line in reversed(self._last.get(flow, ()))]

    def forget(self, flow: str) -> None:
        """The agent no longer has the flow."""
        self._last.pop(flow, None)

    async def serve(self) -> None:
        """Tells now and then what was dropped, until cancelled."""
        while True:
            await asyncio.sleep(_TELL_SECONDS)
            self.tell_dropped()

    def tell_dropped(self) -> None:
        """One line for each flow that lost some."""
        for flow, lines, size in self._limit.dropped():
            message = (
                f"{lines} log lines ({size} characters) were dropped: "
                f"a flow may log {LINES.per_second:g} lines a second, and more for a moment"
            )
            self.tell(flow, Level.WARN, message)

    def _pass_on(self, line: LogLine) -> None:
        last = self._last.get(line.flow)
        if last is None:
            last = self._last[line.flow] = deque(maxlen=_LAST)
        last.append(msgspec.structs.replace(line, message=_cut(line.message, _SHOWN), stack_trace=None, context=None))
        self._outbox.log(line)


def _shown(line: LogLine) -> IntegrationLogMessage:
    return IntegrationLogMessage(
        id=line.id,
        time_stamp=line.at,
        log_level=line.level,
        message=line.message,
        exception_message=_cut(line.exception_message, _SHOWN),
        exception_type=line.exception_type,
    )


def _cut(text: T, longest: int) -> T:
    if text is None or len(text) <= longest:
        return text
    return f"{text[:longest]}... ({len(text) - longest} more)"
