"""How triggers, notebook endpoints and notebook schedules are stored."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self, TypeVar
from uuid import UUID

import msgspec

from penstock.areas.triggers.model import (
    Access,
    ActionTrigger,
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

R = TypeVar("R", bound=ActionTrigger | NotebookEndpoint | NotebookSchedule)


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

    def with_access(self, access: Access, secret_hash: str | None) -> Self:
        """The trigger with others who may call."""
        return msgspec.structs.replace(self, trigger_type=access, secret_hash=secret_hash)

    def shown(self) -> WebTrigger:
        """The trigger as the API answers it."""
        return msgspec.convert(self, WebTrigger, from_attributes=True)


class StoredNotebookEndpoint(NotebookEndpoint):
    """secret_hash: None until a secret was made."""

    access: Access = Access.SECRET
    secret_hash: str | None = None

    def with_access(self, access: Access, secret_hash: str | None) -> Self:
        """The endpoint with others who may call."""
        return msgspec.structs.replace(self, access=access, secret_hash=secret_hash)

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


def _script_of(runner: ActionTrigger | NotebookEndpoint | NotebookSchedule) -> str:
    if isinstance(runner, NotebookEndpoint | NotebookSchedule):
        return str(runner.notebook_id)
    return str(runner.action_id)


def _runners(name: str, type: type[R]) -> Collection[R]:
    """What runs scripts: found by its name, and by what it runs."""
    columns: tuple[Column[R], ...] = (
        Column("name", lambda runner: runner.name, ColumnType.KEY, unique=True),
        Column("script", _script_of),
    )
    return Collection(name, type, columns)


EVENT_TRIGGERS = _runners("event_triggers", StoredEventTrigger)
SCHEDULE_TRIGGERS = _runners("schedule_triggers", ScheduleTrigger)
WEB_TRIGGERS = _runners("web_triggers", StoredWebTrigger)
NOTEBOOK_ENDPOINTS = _runners("notebook_endpoints", StoredNotebookEndpoint)
NOTEBOOK_SCHEDULES = _runners("notebook_schedules", NotebookSchedule)
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
