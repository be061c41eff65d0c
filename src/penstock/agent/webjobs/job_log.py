"""The log of one web job: what its process writes, and what becomes of it."""

from collections.abc import Callable

from penstock.agent.outbox import Outbox
from penstock.flow.commands.output_lines import BoundedLines
from penstock.flow.listener import Level
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id
from penstock.protocol.report import LogLine
from penstock.protocol.web_job import LOG_TYPE, PREFIX


class JobLog:
    """masked: takes secrets out of a text."""

    def __init__(self, job: str, outbox: Outbox, clock: Clock, masked: Callable[[str], str]) -> None:
        self._flow = PREFIX + job
        self._outbox = outbox
        self._clock = clock
        self._masked = masked

    def lines(self) -> BoundedLines:
        """What a process of the job writes to."""
        return BoundedLines(lambda stream, text: self._put(Level.INFO, text, stream))

    def info(self, message: str) -> None:
        self._put(Level.INFO, message, "agent")

    def warning(self, message: str) -> None:
        self._put(Level.WARN, message, "agent")

    def _put(self, level: Level, message: str, logger: str) -> None:
        self._outbox.log(
            LogLine(
                id=new_id(),
                at=self._clock.now(),
                flow=self._flow,
                level=level,
                message=self._masked(message),
                context={"Logger": logger},
                type=LOG_TYPE,
            )
        )
