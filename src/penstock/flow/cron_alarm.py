"""The alarm of a cron expression, as Quartz rings it."""

from datetime import datetime, timedelta, tzinfo
from functools import lru_cache

from penstock.flow.intake import Intake
from penstock.flow.timetable import Alarm
from penstock.kernel.cron import Cron

_SECOND = timedelta(seconds=1)


class CronAlarm(Alarm):
    """Rings at each due time; exchanges may overlap. trigger: a name, or GROUP/NAME."""

    __slots__ = ("_cron", "_group", "_intake", "_trigger")

    def __init__(self, cron: Cron, trigger: str, intake: Intake) -> None:
        super().__init__(intake.flow)
        self._cron = cron
        group, _, name = trigger.rpartition("/")
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
