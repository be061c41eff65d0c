"""Where a consumer hands its exchanges to the route behind it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from penstock.flow.component import Consumer, Stop
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.timetable import Alarm, Timetable
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id

Accept = Callable[[Exchange], "asyncio.Task[None]"]


class Intake:
    """What a consumer gets at its start, and how the engine ends it.

    since: due times after this moment are the consumer's. zone: the one that wall-clock times are meant in.
    accept: runs an exchange through the route, in a task that ends with the flow.
    """

    __slots__ = ("_alarms", "_stop", "_timetable", "accept", "flow", "route", "since", "zone")

    def __init__(
        self,
        flow: FlowContext,
        route: str,
        since: datetime,
        zone: tzinfo,
        timetable: Timetable,
        accept: Accept,
    ) -> None:
        self.flow = flow
        self.route = route
        self.since = since
        self.zone = zone
        self._timetable = timetable
        self.accept = accept
        self._alarms: list[Alarm] = []
        self._stop: Stop | None = None

    @property
    def clock(self) -> Clock:
        return self.flow.clock

    def add_alarm(self, alarm: Alarm, due: datetime | None) -> None:
        """Puts an alarm into the timetable; the engine takes it out when the flow stops."""
        self._alarms.append(alarm)
        self._timetable.set(alarm, due)

    def set_alarm(self, alarm: Alarm, due: datetime) -> None:
        """Sets an alarm that was added to another time."""
        self._timetable.set(alarm, due)

    def exchange(self, due: datetime | None = None) -> Exchange:
        """A new exchange for the route. due: the tick that it stands for."""
        return Exchange(str(new_id()), self.route, self.clock.now(), due)

    async def start(self, consumer: Consumer) -> None:
        self._stop = await consumer.start(self)

    async def stop(self) -> None:
        """Nothing is accepted any more, save ticks that were due before `end_ticks` said."""
        if self._stop is not None:
            await self._stop()
        for alarm in self._alarms:
            if alarm.until is None:
                self._timetable.end(alarm, datetime.min.replace(tzinfo=UTC))

    def end_ticks(self, until: datetime) -> None:
        """Ticks that are due later are not this consumer's any more."""
        for alarm in self._alarms:
            if alarm.is_tick:
                self._timetable.end(alarm, until)

    def resume_ticks(self, since: datetime) -> None:
        """Takes `end_ticks(since)` back."""
        for alarm in self._alarms:
            if alarm.is_tick:
                alarm.until = None
                self._timetable.set(alarm, alarm.due or alarm.after(since))
