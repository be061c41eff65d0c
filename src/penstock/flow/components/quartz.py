"""`quartz:NAME`: an exchange at each due time of a cron expression."""

from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.intake import Intake
from penstock.flow.timetable import Alarm
from penstock.kernel.cron import Cron

_SECOND = timedelta(seconds=1)


class Quartz(Consumer, frozen=True, kw_only=True):
    """Fires at each due time, in the agent's time zone; exchanges may overlap.

    Sets the headers triggerName, triggerGroup, scheduledFireTime, fireTime and nextFireTime.

    The expression is Penstock's: day-of-week 1-7 is MON-SUN. The Quartz library counts from Sunday, so flows
    that are to mean the same on Camel name the days.
    """

    element = "quartz"
    path = "triggerName"

    trigger_name: Annotated[str, Meta(description="Name of the trigger, or GROUP/NAME.", min_length=1)]
    cron: Annotated[
        Cron,
        Meta(description="Six fields from seconds to day-of-week (1-7 is MON-SUN); `+` is a blank in a uri."),
    ]

    async def start(self, intake: Intake) -> None:
        intake.add_alarm(_QuartzAlarm(self, intake))


class _QuartzAlarm(Alarm):
    __slots__ = ("_cron", "_group", "_intake", "_trigger")

    def __init__(self, quartz: Quartz, intake: Intake) -> None:
        super().__init__(intake.flow)
        self._cron = quartz.cron
        group, _, name = quartz.trigger_name.rpartition("/")
        self._group = group or "Camel"
        self._trigger = name
        self._intake = intake

    def after(self, due: datetime) -> datetime | None:
        return _next(self._cron, due, self._intake.zone)

    def span(self, due: datetime, limit: datetime) -> tuple[datetime, int]:
        zone = self._intake.zone
        return _last(self._cron, due, limit, zone), self._cron.count_between(due - _SECOND, limit, zone)

    def ring(self, due: datetime) -> None:
        exchange = self._intake.exchange(due)
        exchange.headers["triggerName"] = self._trigger
        exchange.headers["triggerGroup"] = self._group
        exchange.headers["scheduledFireTime"] = due
        exchange.headers["fireTime"] = exchange.created
        exchange.headers["nextFireTime"] = self.after(due)
        self._intake.accept(exchange)


@lru_cache(maxsize=4096)
def _next(cron: Cron, after: datetime, zone: tzinfo) -> datetime | None:
    """Many schedules share an expression, and so a due time."""
    return cron.next_after(after, zone)


def _last(cron: Cron, due: datetime, limit: datetime, zone: tzinfo) -> datetime:
    """The last due time up to `limit`, looked for in windows that grow into the past."""
    width = timedelta(minutes=1)
    while limit - width > due:
        times = list(cron.between(limit - width, limit, zone))
        if times:
            return times[-1]
        width *= 2
    return max(cron.between(due - _SECOND, limit, zone))
