"""Looking for something again and again, as Camel's scheduled consumers do."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.listener import Level

_SHORTEST = timedelta(milliseconds=10)

Look = Callable[[], Awaitable[None]]
After = Callable[[Exchange], Awaitable[None]]


class Poller:
    """Looks after `initial_delay`, then each time `delay` after the end of the look before."""

    def __init__(self, intake: Intake, initial_delay: timedelta, delay: timedelta) -> None:
        self._intake = intake
        self._initial_delay = initial_delay
        self._delay = max(delay, _SHORTEST)
        self._problem = ""

    def start(self, look: Look) -> None:
        """Begins, until the intake closes. A look that fails is logged, once for each reason, and done again."""
        self._intake.serve(self._serve(look))

    async def _serve(self, look: Look) -> None:
        await asyncio.sleep(self._initial_delay.total_seconds())
        while True:
            try:
                await look()
                self._problem = ""
            except Exception as error:  # noqa: BLE001 - what is away now may be back at the next look
                self._tell(error)
            await asyncio.sleep(self._delay.total_seconds())

    def _tell(self, error: Exception) -> None:
        if str(error) == self._problem:
            return
        self._problem = str(error)
        self._intake.flow.log(Level.WARN, f"Nothing can be taken in: {error}", self._intake.route, None, error)


async def take(intake: Intake, exchange: Exchange, after: After) -> None:
    """Takes an exchange through the route, and does what comes after it as part of it, also when the flow stops.

    `after` finds in `exchange.error` what it failed with. A caller that is cancelled leaves both to go on.
    """
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await intake.enter(exchange)
        except BaseException as error:
            exchange.error = error
            raise
        finally:
            try:
                await after(exchange)
            finally:
                ended.set()

    intake.flow.spawn(exchange, work())
    await ended.wait()
