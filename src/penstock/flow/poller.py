"""Looking for something again and again, as Camel's scheduled consumers do."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime, timedelta
from typing import ClassVar

from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.listener import Level
from penstock.flow.timetable import Alarm

_SHORTEST = timedelta(milliseconds=10)

Look = Callable[[], Awaitable[None]]
After = Callable[[Exchange], Awaitable[None]]


class Poller(Alarm):
    """Looks after `initial_delay`, then each time `delay` after the end of the look before.

    Between two looks it has no task. The first look waits for the last exchange of the flow's version before, which
    may still be about what it would find.
    """

    __slots__ = ("_delay", "_initial_delay", "_intake", "_look", "_problem", "_turn")

    is_tick: ClassVar[bool] = False

    def __init__(self, intake: Intake, initial_delay: timedelta, delay: timedelta) -> None:
        super().__init__(intake.flow)
        self._intake = intake
        self._initial_delay = initial_delay
        self._delay = max(delay, _SHORTEST)
        self._turn = intake.flow.surroundings.turn(f"{intake.flow.name}/{intake.route}")
        self._problem = ""
        self._look: Look

    def start(self, look: Look) -> None:
        """Begins with the flow, until the intake closes. A look that fails is logged, once for each reason."""
        self._look = look
        self._intake.add_alarm(self)

    async def take(self, exchange: Exchange, after: After) -> None:
        """Takes an exchange through the route, and does what comes after it; see the function of the same name."""
        await take(self._intake, exchange, after, self._turn)

    def first(self, since: datetime) -> datetime | None:
        return since + max(self._initial_delay, timedelta())

    def after(self, due: datetime) -> datetime | None:
        return None  # set anew when the look has ended

    def ring(self, due: datetime) -> None:
        self._intake.serve(self._round())

    async def _round(self) -> None:
        async with self._turn:
            pass  # no exchange is in flight any more
        try:
            await self._look()
            self._problem = ""
        except Exception as error:  # noqa: BLE001 - what is away now may be back at the next look
            self._tell(error)
        self._intake.set_alarm(self, self._intake.clock.now() + self._delay)

    def _tell(self, error: Exception) -> None:
        if str(error) == self._problem:
            return
        self._problem = str(error)
        self._intake.flow.log(Level.WARN, f"Nothing can be taken in: {error}", self._intake.route, None, error)


async def take(intake: Intake, exchange: Exchange, after: After, turn: asyncio.Lock | None = None) -> None:
    """Takes an exchange through the route, and does what comes after it as part of it, also when the flow stops.

    `after` finds in `exchange.error` what it failed with. A caller that is cancelled leaves both to go on.
    turn: held meanwhile.
    """
    ended = asyncio.Event()
    held: AbstractAsyncContextManager[None] = turn if turn is not None else nullcontext()

    async def work() -> None:
        try:
            async with held:
                await _through(intake, exchange, after)
        finally:
            ended.set()

    intake.flow.spawn(exchange, work())
    await ended.wait()


async def _through(intake: Intake, exchange: Exchange, after: After) -> None:
    try:
        await intake.enter(exchange)
    except BaseException as error:
        exchange.error = error
        raise
    finally:
        await after(exchange)
