"""`cron:NAME`: an exchange at each due time of a cron expression, in the short form of Camel's cron component."""

from typing import Annotated, Self

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.cron_alarm import CronAlarm
from penstock.flow.intake import Intake
from penstock.kernel.cron import Cron as CronExpression


class Schedule(CronExpression):
    """A cron expression of five fields, from minutes, or of six, from seconds; `+` is a blank."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError with what is allowed."""
        fields = text.replace("+", " ").split()
        if len(fields) == 7:
            raise ValueError("has a field for years, which only the engine Camel knows")
        if len(fields) not in (5, 6):
            raise ValueError(f"must have 5 fields from minutes or 6 from seconds, not {len(fields)}")
        return super().parse(" ".join(["0", *fields][-6:]))


class Cron(Consumer, frozen=True, kw_only=True):
    """Fires at each due time, in the agent's time zone; exchanges may overlap.

    Headers and the numbers of days are those of `quartz`.
    """

    element = "cron"
    path = "name"

    name: Annotated[str, Meta(description="Name of the trigger.", min_length=1)]
    schedule: Annotated[
        Schedule,
        Meta(description="Five fields from minutes or six from seconds, day-of-week last (1-7 is MON-SUN)."),
    ]

    async def start(self, intake: Intake) -> None:
        intake.add_alarm(CronAlarm(self.schedule, self.name, intake))
