"""When an event source is polled."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from penstock.kernel.cron import Cron, CronError
from penstock.kernel.errors import FieldError

DEFAULT = timedelta(seconds=30)
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=366)


@dataclass(frozen=True)
class Cadence:
    """By a cron expression in the zone of the place, or by a frequency: the time between the polls' due times."""

    frequency: timedelta
    cron: Cron | None
    zone: tzinfo

    @classmethod
    def of(cls, frequency: timedelta | None, cron: str | None, zone: tzinfo) -> "Cadence":
        """A cron expression beats a frequency; with neither it is 30 s. Raises CronError."""
        return cls(frequency or DEFAULT, Cron.parse(cron) if cron else None, zone)

    def next_due(self, last: datetime, now: datetime) -> datetime | None:
        """The first due time that has not passed, after the one that was `last`. None: there is none any more.

        Due times that passed while a poll went on, or while nobody polled, are left out.
        """
        if self.cron is not None:
            return self.cron.next_after(max(last, now), self.zone)
        last = min(last, now)  # a clock that was set back must not make us wait for as long
        return last + self.frequency * ((now - last) // self.frequency + 1)


def cadence_errors(frequency: timedelta | None, cron: str | None, fields: tuple[str, str]) -> list[FieldError]:
    """What is wrong with them. fields: how both are called."""
    errors = []
    if frequency is not None and not SHORTEST <= frequency <= LONGEST:
        errors.append(FieldError(fields[0], "must be between 1 second and 366 days"))
    if cron:
        try:
            Cron.parse(cron)
        except CronError as error:
            errors.append(FieldError(fields[1], str(error)))
    return errors
