"""How often and after what pause a step that failed is done again."""

from datetime import timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from penstock.flow.element import Element
from penstock.flow.listener import Level
from penstock.flow.period import Period


class RedeliveryPolicy(Element, frozen=True, kw_only=True):
    """Tries of the step that failed, after its first one. What an `onException` leaves open is as around it."""

    element = "redeliveryPolicy"

    maximum_redeliveries: Annotated[
        Annotated[int, Meta(ge=-1)] | None,
        Meta(description="How often it is done again; 0 when nothing says so, -1 without end."),
    ] = None
    redelivery_delay: Annotated[Period | None, Meta(description="Pause before it is done again: 1s.")] = None
    use_exponential_back_off: Annotated[
        bool | None, Meta(description="Lets each pause be longer than the one before: no.")
    ] = None
    back_off_multiplier: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="By how much the pause grows: 2.")
    ] = None
    maximum_redelivery_delay: Annotated[Period | None, Meta(description="The longest pause: 60s.")] = None
    retry_attempted_log_level: Annotated[Level | None, Meta(description="Severity of the line on each try: DEBUG.")] = (
        None
    )
    retries_exhausted_log_level: Annotated[
        Level | None, Meta(description="Severity of the line on the last failure: ERROR.")
    ] = None
    log_retry_attempted: Annotated[bool | None, Meta(description="Logs each try: yes.")] = None
    log_exhausted: Annotated[bool | None, Meta(description="Logs that no try is left: yes.")] = None

    def within(self, outer: "Redelivery") -> "Redelivery":
        """What holds when `outer` holds for what is left open."""
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(outer, **given)


class Redelivery(msgspec.Struct, frozen=True):
    """A RedeliveryPolicy with nothing open."""

    maximum_redeliveries: int = 0
    redelivery_delay: timedelta = timedelta(seconds=1)
    use_exponential_back_off: bool = False
    back_off_multiplier: float = 2.0
    maximum_redelivery_delay: timedelta = timedelta(seconds=60)
    retry_attempted_log_level: Level = Level.DEBUG
    retries_exhausted_log_level: Level = Level.ERROR
    log_retry_attempted: bool = True
    log_exhausted: bool = True

    def allows(self, attempt: int) -> bool:
        """Whether there is to be a try number `attempt`, counted from 1 after the first failure."""
        return self.maximum_redeliveries < 0 or attempt <= self.maximum_redeliveries

    def pause(self, before: timedelta) -> timedelta:
        """The pause that follows the pause `before`, which is none for the first one."""
        pause = before or self.redelivery_delay
        if before and self.use_exponential_back_off and self.back_off_multiplier > 1:
            pause = before * self.back_off_multiplier
        return min(pause, self.maximum_redelivery_delay) if self.maximum_redelivery_delay else pause
