"""`timer:NAME`: an exchange at fixed intervals."""

from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.intake import Intake
from penstock.flow.period import Period
from penstock.flow.timetable import Alarm


class Timer(Consumer, frozen=True, kw_only=True):
    """Fires again and again; never while the exchange before is still on its way."""

    element = "timer"
    path = "timerName"

    timer_name: Annotated[str, Meta(description="Name of the timer.", min_length=1)]
    period: Annotated[Period, Meta(description="Time between two exchanges. 0: one after the other.")] = Period(
        seconds=1
    )
    delay: Annotated[
        Period, Meta(description="Time before the first exchange. Negative: repeatCount exchanges at once.")
    ] = Period(seconds=1)
    repeat_count: Annotated[int, Meta(description="How many exchanges in all. 0: without end.")] = 0
    fixed_rate: Annotated[
        bool, Meta(description="Keeps to multiples of the period, instead of the period after the last start.")
    ] = False
    include_metadata: Annotated[
        bool, Meta(description="Sets the headers CamelTimerCounter, CamelTimerName and CamelTimerFiredTime.")
    ] = False

    async def start(self, intake: Intake) -> None:
        alarm = _TimerAlarm(self, intake)
        intake.add_alarm(alarm, intake.since + max(self.delay, timedelta()))


class _TimerAlarm(Alarm):
    __slots__ = ("_count", "_due", "_fired", "_intake", "_timer")

    is_tick: ClassVar[bool] = False

    def __init__(self, timer: Timer, intake: Intake) -> None:
        super().__init__(intake.flow)
        self._timer = timer
        self._intake = intake
        self._count = 0
        self._due = self._fired = intake.since

    def after(self, due: datetime) -> datetime | None:
        return None  # set anew when the exchange has ended

    def ring(self, due: datetime) -> None:
        self._count += 1
        self._due = due
        self._fired = self._intake.clock.now()
        exchange = self._intake.exchange()
        exchange.properties["CamelTimerName"] = self._timer.timer_name
        exchange.properties["CamelTimerCounter"] = self._count
        if self._timer.include_metadata:
            exchange.headers["CamelTimerName"] = self._timer.timer_name
            exchange.headers["CamelTimerCounter"] = self._count
            exchange.headers["CamelTimerFiredTime"] = self._fired
        self._intake.accept(exchange).add_done_callback(lambda _: self._set_next())

    def _set_next(self) -> None:
        repeats = self._timer.repeat_count
        if 0 < repeats <= self._count:
            return
        self._intake.set_alarm(self, self._next_due())

    def _next_due(self) -> datetime:
        timer = self._timer
        if timer.delay < timedelta() and timer.repeat_count > 0:
            return self._fired
        if not timer.fixed_rate or not timer.period:
            return self._fired + timer.period
        behind = self._intake.clock.now() - self._due  # whole periods that have passed are left out
        return self._due + timer.period * (behind // timer.period + 1)
