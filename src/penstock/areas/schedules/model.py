"""Schedules: commands that agents run when they are due (specification 1, "Schedule configuration document")."""

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
from penstock.protocol.capability import Requirement
from penstock.store.definition import Collection, Column, ColumnType

FLOW_PREFIX = "schedule-"
"""Before a schedule's name: its flow, and its stream."""
CATEGORY = "Schedule"


class ScheduleDto(Wire):
    """A schedule. Cron: seconds minutes hours day-of-month month day-of-week, in the time zone of each agent."""

    name: str | None = None
    description: str | None = None
    cron: str | None = None
    command: str | None = None
    arguments: list[str] | None = None


class Schedule(Entity):
    """A schedule as stored."""

    name: str
    description: str | None = None
    cron: str
    command: str
    arguments: list[str] = []
    requirements: dict[str, str] = {}

    @property
    def flow(self) -> str:
        """The name of the flow that it makes."""
        return FLOW_PREFIX + self.name

    @property
    def required(self) -> list[Requirement]:
        return [Requirement(identifier=key, value=value) for key, value in self.requirements.items()]

    def shown(self) -> ScheduleDto:
        return ScheduleDto(
            name=self.name,
            description=self.description,
            cron=self.cron,
            command=self.command,
            arguments=self.arguments,
        )


SCHEDULES: Collection[Schedule] = Collection(
    "schedules", Schedule, (Column("name", lambda schedule: schedule.name, ColumnType.KEY, unique=True),)
)
