"""What steps and components may use of the flow that they belong to, and of the engine."""

import traceback
from collections.abc import Callable, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.flow.commands.command import CommandRunner
from penstock.flow.failures.errors import FlowError
from penstock.flow.listener import FlowListener, Level, LogEntry
from penstock.flow.resources import Resources
from penstock.flow.variables import Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError

if TYPE_CHECKING:
    from penstock.flow.exchange import Exchange
    from penstock.flow.surroundings import FlowSurroundings

T = TypeVar("T")

Enter = Callable[["Exchange"], Coroutine[Any, Any, None]]
"""Takes an exchange through a route. Raises the error that nothing in the route has mended."""

Spawn = Callable[["Exchange", Coroutine[Any, Any, None]], None]
"""Runs something apart for an exchange."""


class NoConsumer(FlowError):
    """Nothing in the flow takes exchanges at the address, or two things do."""

    code = "no-consumer"
    title = "Nothing takes the exchange"
    java = (
        "org.apache.camel.component.direct.DirectConsumerNotAvailableException",
        "org.apache.camel.CamelExchangeException",
    )


class FlowContext:
    """One version of a running flow, as its steps and components see it.

    surroundings: what all flows of the engine share. zone: of wall-clock times.
    packages: what the flow needs beside the engine.
    """

    __slots__ = (
        "_entrances",
        "_resources",
        "_spawn",
        "_surroundings",
        "clock",
        "commands",
        "listener",
        "name",
        "packages",
        "variables",
        "version",
        "zone",
    )

    def __init__(
        self,
        name: str,
        version: str,
        clock: Clock,
        listener: FlowListener,
        variables: Variables,
        commands: CommandRunner,
        surroundings: "FlowSurroundings | None" = None,
        resources: Resources | None = None,
        spawn: Spawn | None = None,
        zone: tzinfo = UTC,
        packages: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.version = version
        self.clock = clock
        self.listener = listener
        self.variables = variables
        self.commands = commands
        self._surroundings = surroundings
        self._resources = resources
        self._spawn = spawn
        self.zone = zone
        self.packages = packages
        self._entrances: dict[str, Enter] = {}

    @property
    def surroundings(self) -> "FlowSurroundings":
        assert self._surroundings is not None, "the engine was given no surroundings"
        return self._surroundings

    def offer(self, address: str, enter: Enter) -> None:
        """Lets the flow's own steps call a route, as `intake.enter` of the consumer of `direct:a` does.

        Holds for as long as exchanges of this version are on their way. Raises NoConsumer when it is offered already.
        """
        if address in self._entrances:
            raise NoConsumer(f"'{address}' stands in `from` twice; only one route can take its exchanges")
        self._entrances[address] = enter

    def offers(self, address: str) -> bool:
        """Whether a route of this flow takes exchanges at the address."""
        return address in self._entrances

    async def call(self, address: str, exchange: "Exchange") -> None:
        """Takes the exchange through the route that is offered at the address.

        Raises what the route raises, NoConsumer when there is none.
        """
        enter = self._entrances.get(address)
        if enter is None:
            raise NoConsumer(f"no route of this flow begins with '{address}'")
        await enter(exchange)

    def spawn(self, exchange: "Exchange", work: Coroutine[Any, Any, None]) -> None:
        """Does the work apart from whoever asks. It counts as in flight, and ends with the flow at the latest.

        What it raises is logged for the exchange. Usually `work` is `flow.call(...)` with a copy of an exchange.
        """
        assert self._spawn is not None, "only flows in an engine have tasks"
        self._spawn(exchange, work)

    async def resource(self, key: Hashable, enter: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What `enter` opens: once for this version of the flow, closed when its last exchange has ended.

        Others who ask with the same key get the same. Raises what the opening raises; then the next one tries again.
        """
        assert self._resources is not None, "only flows in an engine have resources"
        return await self._resources.get(key, enter)

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
            trace = self.trace_of(error)
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

    def trace_of(self, error: BaseException) -> str:
        """Where the error happened, secrets masked."""
        return self.variables.masked("".join(traceback.format_exception(error)))
