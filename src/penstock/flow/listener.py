"""What the engine tells its owner."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

import msgspec


class Level(StrEnum):
    """Severity of a log line."""

    TRACE = "TRACE"
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
    OFF = "OFF"


class Tick(msgspec.Struct, frozen=True, gc=False):
    """A due time that is about to fire, or a run of consecutive ones that were missed.

    due, last_due: the first and the last due time covered. count: how many.
    missed: they are too late to fire, `reason` says why.
    """

    flow: str
    version: str
    due: datetime
    last_due: datetime
    count: int = 1
    missed: bool = False
    reason: str | None = None


class CommandRun(msgspec.Struct, frozen=True):
    """One run of a command.

    command: program and arguments, variables by name. due: the tick that it runs for.
    finished, exit_code: None while it runs; exit_code stays None when it never started, and is minus the
    signal's number when a signal ended it. error: why it failed, None when it did not.
    output: the end of what it wrote to standard output and error; output_bytes: how much that was in all.
    """

    id: UUID
    flow: str
    version: str
    exchange_id: str
    due: datetime | None
    command: tuple[str, ...]
    started: datetime
    finished: datetime | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str = ""
    output_bytes: int = 0


class LogEntry(msgspec.Struct, frozen=True):
    """A line that a flow logged. logger: the log endpoint's name, or the route."""

    flow: str
    version: str
    at: datetime
    level: Level
    message: str
    logger: str
    exchange_id: str | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    stack_trace: str | None = None


class FlowListener(Protocol):
    """What `ticks` raises ends the engine; what the others raise makes their exchange a failed one."""

    async def ticks(self, ticks: Sequence[Tick]) -> None:
        """Called before any of `ticks` fires, so that they can be written down first. Later ticks wait for it."""
        ...

    async def run_started(self, run: CommandRun) -> None:
        """Called just before the command starts."""
        ...

    async def run_finished(self, run: CommandRun) -> None:
        """Called once for every run that started, also when the engine ends."""
        ...

    def log(self, entry: LogEntry) -> None:
        """Takes a line; must not wait."""
        ...

    def flow_failed(self, flow: str, version: str, reason: str) -> None:
        """The flow cannot go on: a consumer has died, or its process has ended. Must not wait.

        The flow stays as it is until the owner stops it or starts it anew.
        """
        ...
