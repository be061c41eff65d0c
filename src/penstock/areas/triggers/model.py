"""Triggers of actions, and the endpoints and schedules of notebooks, as the API shows them."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
from penstock.protocol.report import TickOutcome
from penstock.resource.script_parameters import ActionParameter, RunNotebookParameter

NONE = UUID(int=0)
"""Stands for an id that was not given."""


class EventTriggerParameter(Wire):
    """A parameter's value: ValueJson, or what the JSONPath (RFC 9535) selects of the event in its JSON format.

    A path that can select several values gives all of them, as an array.
    """

    name: str | None = None
    value_json: str | None = None
    json_path: str | None = None


class ActionTrigger(Entity):
    """What the triggers of actions have in common. TriggerType: the kind, or what the kind says of it."""

    action_id: UUID
    action_name: str | None = None
    trigger_type: str | None = None
    is_enabled: bool = True
    name: str | None = None


class EventTrigger(ActionTrigger):
    """Runs an action for each accepted event of this type, source and version: each exact, or `*` or null for any.

    TriggerType is `event`.
    """

    event_type: str | None = None
    event_source: str | None = None
    version: str | None = None
    parameters: list[EventTriggerParameter] | None = None


class ScheduleTrigger(ActionTrigger):
    """Runs an action when it is due: by CronExpression, in the time zone of the server's machine, or else by Frequency.

    TriggerType is `schedule`.
    """

    cron_expression: str | None = None
    frequency: Duration | None = None
    parameters: list[ActionParameter] | None = None


class WebTrigger(ActionTrigger):
    """Runs an action for each request to `/web/{Route}`. Parameters are fixed; a request has no say in them.

    TriggerType: `secret` (unless given), callers need the trigger's secret; `open`, everybody may call.
    """

    route: str | None = None
    parameters: list[ActionParameter] | None = None


class NotebookEndpoint(Entity):
    """Runs a notebook for each request to `/web/{Route}`. EndpointId is its Id."""

    notebook_id: UUID
    endpoint_id: UUID = NONE
    name: str | None = None
    route: str | None = None


class NotebookSchedule(Entity):
    """Runs a notebook when it is due: by CronExpression, in the time zone of the server's machine, or by Frequency."""

    name: str | None = None
    notebook_id: UUID
    cron_expression: str | None = None
    frequency: Duration | None = None
    parameters: list[RunNotebookParameter] | None = None


class Access(StrEnum):
    """Who may call a route. secret: who has its secret. open: everybody."""

    SECRET = "secret"  # noqa: S105
    OPEN = "open"


class RouteAccess(Wire):
    """Who may call. Secret: in the answer that makes it, and never again."""

    access: Access = Access.SECRET
    secret: str | None = None


class WantedAccess(Wire):
    """Who may call from now on."""

    access: Access = Access.SECRET


class TriggerTick(Wire):
    """A due time that fired, or several in a row that did not, for one reason.

    Due, LastDue: the first and the last of them; Count: how many. RunId: of the run, which is in the history of the
    action or notebook.
    """

    schedule_id: UUID
    due: datetime
    last_due: datetime
    count: int = 1
    outcome: TickOutcome
    reason: str | None = None
    run_id: UUID | None = None
