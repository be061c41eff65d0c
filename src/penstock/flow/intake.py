"""Where a consumer hands its exchanges to the route behind it."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, tzinfo
from typing import Any

from penstock.flow.component import Consumer, Stop
from penstock.flow.context import Enter, FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.timetable import Alarm, Timetable
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id

_LONG_AGO = datetime.min.replace(tzinfo=UTC)

Accept = Callable[[Exchange], "asyncio.Task[None]"]
Serve = Callable[[str, Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Intake:
    """What a consumer gets at its start, and how the engine begins and ends it.

    zone: the one that wall-clock times are meant in.
    accept: runs an exchange through the route, in a task that ends with the flow. When it is done, `exchange.error`
    is what the exchange failed with; the task itself does not fail.
    enter: takes an exchange through the route at once, for `flow.offer`.
    active: from the moment that this version of the flow counts, to the moment that the next one does.
    """

    __slots__ = (
        "_alarms",
        "_serve",
        "_servers",
        "_stop",
        "_timetable",
        "accept",
        "active",
        "enter",
        "flow",
        "route",
        "zone",
    )

    def __init__(
        self,
        flow: FlowContext,
        route: str,
        zone: tzinfo,
        timetable: Timetable,
        accept: Accept,
        enter: Enter,
        serve: Serve,
    ) -> None:
        self.flow = flow
        self.route = route
        self.zone = zone
        self._timetable = timetable
        self.accept = accept
        self.enter = enter
        self._serve = serve
        self._servers: set[asyncio.Task[None]] = set()
        self._alarms: list[Alarm] = []
        self._stop: Stop | None = None
        self.active = False

    @property
    def clock(self) -> Clock:
        return self.flow.clock

    def add_alarm(self, alarm: Alarm) -> None:
        """Adds an alarm, which begins when all of the flow has started and ends when the flow stops."""
        self._alarms.append(alarm)

    def set_alarm(self, alarm: Alarm, due: datetime) -> None:
        """Sets an alarm that was added to another time."""
        self._timetable.set(alarm, due)

    def serve(self, work: Coroutine[Any, Any, None]) -> None:
        """Does the consumer's own work beside the flow, like reading a subscription; cancelled when it closes.

        What it raises is a crash: the flow's status and the listener tell it.
        """
        server = self._serve(self.route, work)
        self._servers.add(server)
        server.add_done_callback(self._servers.discard)

    def exchange(self, due: datetime | None = None) -> Exchange:
        """A new exchange for the route. due: the tick that it stands for."""
        return Exchange(str(new_id()), self.route, self.clock.now(), due)

    async def open(self, consumer: Consumer) -> None:
        self._stop = await consumer.start(self)

    def begin(self, now: datetime, since: datetime) -> None:
        """Ticks that are due after `since`, which may have passed, are this consumer's; other alarms begin now."""
        self.active = True
        for alarm in self._alarms:
            self._timetable.set(alarm, alarm.first(since if alarm.is_tick else now))

    def end_ticks(self, until: datetime) -> None:
        """Ticks that are due after `until` are not this consumer's any more."""
        self.active = False
        for alarm in self._alarms:
            if alarm.is_tick:
                self._timetable.end(alarm, until)

    async def close(self) -> None:
        """Nothing is accepted any more, save ticks up to the moment that `end_ticks` named."""
        if self._stop is not None:
            await self._stop()
        servers = set(self._servers)
        for server in servers:
            server.cancel()
        if servers:
            await asyncio.wait(servers)
        for alarm in self._alarms:
            if alarm.until is None:
                self._timetable.end(alarm, _LONG_AGO)
