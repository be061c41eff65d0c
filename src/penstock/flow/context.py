"""What a step may use while it processes an exchange."""

import traceback

from penstock.flow.command import CommandRunner
from penstock.flow.listener import FlowListener, Level, LogEntry
from penstock.flow.variables import Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError


class FlowContext:
    """One version of a running flow, as its steps and components see it."""

    __slots__ = ("clock", "commands", "listener", "name", "variables", "version")

    def __init__(
        self,
        name: str,
        version: str,
        clock: Clock,
        listener: FlowListener,
        variables: Variables,
        commands: CommandRunner,
    ) -> None:
        self.name = name
        self.version = version
        self.clock = clock
        self.listener = listener
        self.variables = variables
        self.commands = commands

    def log(
        self,
        level: Level,
        message: str,
        logger: str,
        exchange_id: str | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Hands a line to the listener, secrets masked. error: told with type and message, and where it happened
        unless it is one that explains itself."""
        if level is Level.OFF:
            return
        masked = self.variables.masked
        trace = None
        if error is not None and not isinstance(error, PenstockError):
            trace = masked("".join(traceback.format_exception(error)))
        self.listener.log(
            LogEntry(
                flow=self.name,
                version=self.version,
                at=self.clock.now(),
                level=level,
                message=masked(message),
                logger=logger,
                exchange_id=exchange_id,
                exception_type=type(error).__name__ if error is not None else None,
                exception_message=masked(str(error)) if error is not None else None,
                stack_trace=trace,
            )
        )
