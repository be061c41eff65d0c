"""`timer:NAME`: an exchange at fixed intervals."""

from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.period import Period
from penstock.flow.timetable import Alarm


class Timer(Consumer, frozen=True, kw_only=True):
    """Fires again and again; never while the exchange before is still on its way."""

    element = "timer"
    path = "timerName"

    timer_name: Annotated[str, Meta(description="Name of the timer.", min_length=1)]
    period: Annotated[Period, Meta(description="Time between two exchanges. 0: one exchange in all.")] = Period(
        seconds=1
    )
    delay: Annotated[
        Period, Meta(description="Time before the first exchange. Negative: one at once after the other, no period.")
    ] = Period(seconds=1)
    repeat_count: Annotated[int, Meta(description="How many exchanges in all. 0: without end.")] = 0
    fixed_rate: Annotated[
        bool, Meta(description="Keeps to multiples of the period, instead of the period after the last start.")
    ] = False
    include_metadata: Annotated[
        bool,
        Meta(
            description="Sets the properties CamelTimerCounter, CamelTimerName, CamelTimerPeriod (milliseconds) and "
            "CamelTimerFiredTime, and the headers CamelTimerFiredTime and CamelMessageTimestamp."
        ),
    ] = False

    async def start(self, intake: Intake) -> None:
        intake.add_alarm(_TimerAlarm(self, intake))


class _TimerAlarm(Alarm):
    __slots__ = ("_count", "_due", "_fired", "_intake", "_timer")

    is_tick: ClassVar[bool] = False

    def __init__(self, timer: Timer, intake: Intake) -> None:
        super().__init__(intake.flow)
        self._timer = timer
        self._intake = intake
        self._count = 0
        self._due = self._fired = intake.clock.now()

    def first(self, since: datetime) -> datetime | None:
        return since + max(self._timer.delay, timedelta())

    def after(self, due: datetime) -> datetime | None:
        return None  # set anew when the exchange has ended

    def ring(self, due: datetime) -> None:
        self._count += 1
        self._due = due
        self._fired = self._intake.clock.now()
        exchange = self._intake.exchange()
        if self._timer.include_metadata:
            self._describe(exchange)
        self._intake.accept(exchange).add_done_callback(lambda _: self._set_next())

    def _describe(self, exchange: Exchange) -> None:
        exchange.properties |= {
            "CamelTimerName": self._timer.timer_name,
            "CamelTimerCounter": self._count,
            "CamelTimerPeriod": self._timer.period // timedelta(milliseconds=1),
            "CamelTimerFiredTime": self._fired,
        }
        exchange.headers["CamelTimerFiredTime"] = self._fired
        exchange.headers["CamelMessageTimestamp"] = int(self._fired.timestamp() * 1000)

    def _set_next(self) -> None:
        repeats = self._timer.repeat_count
        due = self._next_due()
        if due is not None and not 0 < repeats <= self._count:
            self._intake.set_alarm(self, due)

    def _next_due(self) -> datetime | None:
        timer = self._timer
        if timer.delay < timedelta():
            return self._fired
        if not timer.period:
            return None
        if not timer.fixed_rate:
            return self._fired + timer.period
        behind = self._intake.clock.now() - self._due  # whole periods that have passed are left out
        return self._due + timer.period * (behind // timer.period + 1)
