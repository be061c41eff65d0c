"""`quartz:NAME`: an exchange at each due time of a cron expression."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.cron_alarm import CronAlarm
from penstock.flow.intake import Intake
from penstock.kernel.cron import Cron


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
        intake.add_alarm(CronAlarm(self.cron, self.trigger_name, intake))
