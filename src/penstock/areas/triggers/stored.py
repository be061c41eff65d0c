"""How triggers, notebook endpoints and notebook schedules are stored."""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import msgspec

from penstock.areas.triggers.model import (
    Access,
    EventTrigger,
    NotebookEndpoint,
    NotebookSchedule,
    ScheduleTrigger,
    TriggerTick,
    WebTrigger,
)
from penstock.kernel.entity import NEVER, Entity
from penstock.resource.event_patterns import ANY, Pattern
from penstock.store.definition import Collection, Column, ColumnType, Journal


class StoredEventTrigger(EventTrigger):
    """It is for events that were accepted later than `after`, a sequence of the stream of accepted events, or `since`.

    Either alone would do, but clocks differ, and a stream may be made anew.
    """

    after: int = 0
    since: datetime = NEVER

    @property
    def pattern(self) -> Pattern:
        """Source, type and version, each exact or `*`."""
        return self.event_source or ANY, self.event_type or ANY, self.version or ANY

    def takes(self, sequence: int, at: datetime) -> bool:
        """Whether an event that was accepted there and then is for it."""
        return self.is_enabled and (sequence > self.after or at > self.since)

    def shown(self) -> EventTrigger:
        """The trigger as the API answers it."""
        return msgspec.convert(self, EventTrigger, from_attributes=True)


class StoredWebTrigger(WebTrigger):
    """secret_hash: None until a secret was made."""

    secret_hash: str | None = None

    @property
    def access(self) -> Access:
        return Access(self.trigger_type or Access.SECRET)

    def shown(self) -> WebTrigger:
        """The trigger as the API answers it."""
        return msgspec.convert(self, WebTrigger, from_attributes=True)


class StoredNotebookEndpoint(NotebookEndpoint):
    """secret_hash: None until a secret was made."""

    access: Access = Access.SECRET
    secret_hash: str | None = None

    def shown(self) -> NotebookEndpoint:
        """The endpoint as the API answers it."""
        return msgspec.convert(self, NotebookEndpoint, from_attributes=True)


class RouteOwner(StrEnum):
    """What serves a route."""

    WEB_TRIGGER = "web trigger"
    NOTEBOOK_ENDPOINT = "notebook endpoint"


class WebRoute(Entity):
    """A route that is taken, under the id of what serves it: one namespace for both."""

    route: str
    owner: RouteOwner


class ScheduleKind(StrEnum):
    """What has due times."""

    ACTION = "action"
    NOTEBOOK = "notebook"


class ScheduleRun(Entity):
    """What of a schedule changes while it runs, under the schedule's id.

    stamp: differs whenever the due times are others. next_due: None when there is none any more. last_run: the run
    that the last due time began. last_tick: what became of the last due times, which the next ones may add to.
    """

    kind: ScheduleKind
    stamp: str
    next_due: datetime | None = None
    last_run: UUID | None = None
    last_tick: TriggerTick | None = None


EVENT_TRIGGERS: Collection[StoredEventTrigger] = Collection(
    "event_triggers",
    StoredEventTrigger,
    (
        Column("name", lambda trigger: trigger.name, ColumnType.KEY, unique=True),
        Column("script", lambda trigger: str(trigger.action_id)),
    ),
)
SCHEDULE_TRIGGERS: Collection[ScheduleTrigger] = Collection(
    "schedule_triggers",
    ScheduleTrigger,
    (
        Column("name", lambda trigger: trigger.name, ColumnType.KEY, unique=True),
        Column("script", lambda trigger: str(trigger.action_id)),
    ),
)
WEB_TRIGGERS: Collection[StoredWebTrigger] = Collection(
    "web_triggers",
    StoredWebTrigger,
    (
        Column("name", lambda trigger: trigger.name, ColumnType.KEY, unique=True),
        Column("script", lambda trigger: str(trigger.action_id)),
    ),
)
NOTEBOOK_ENDPOINTS: Collection[StoredNotebookEndpoint] = Collection(
    "notebook_endpoints",
    StoredNotebookEndpoint,
    (
        Column("name", lambda endpoint: endpoint.name, ColumnType.KEY, unique=True),
        Column("script", lambda endpoint: str(endpoint.notebook_id)),
    ),
)
NOTEBOOK_SCHEDULES: Collection[NotebookSchedule] = Collection(
    "notebook_schedules",
    NotebookSchedule,
    (
        Column("name", lambda schedule: schedule.name, ColumnType.KEY, unique=True),
        Column("script", lambda schedule: str(schedule.notebook_id)),
    ),
)
WEB_ROUTES: Collection[WebRoute] = Collection(
    "web_routes", WebRoute, (Column("route", lambda route: route.route, ColumnType.KEY, unique=True),)
)
SCHEDULE_RUNS: Collection[ScheduleRun] = Collection(
    "script_schedule_runs", ScheduleRun, (Column("next_due", lambda run: run.next_due, ColumnType.INTEGER),)
)
TICKS: Journal[TriggerTick] = Journal(
    "script_schedule_ticks",
    TriggerTick,
    at=lambda tick: tick.last_due,
    key=lambda tick: f"{tick.schedule_id}/{tick.due.isoformat()}",
    columns=(Column("schedule", lambda tick: str(tick.schedule_id)),),
    keep=timedelta(days=30),
)
