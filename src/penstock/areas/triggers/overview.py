"""Everything that runs actions and notebooks by itself, in one list."""

from collections.abc import Mapping
from operator import attrgetter
from uuid import UUID

from penstock.areas.triggers.event_triggers import EventTriggerService
from penstock.areas.triggers.model import (
    ActionTrigger,
    EventTrigger,
    NotebookEndpoint,
    NotebookSchedule,
    ScheduleTrigger,
    TriggerTick,
    WebTrigger,
)
from penstock.areas.triggers.notebook_endpoints import NotebookEndpointService
from penstock.areas.triggers.stored import NOTEBOOK_SCHEDULES, SCHEDULE_TRIGGERS
from penstock.areas.triggers.timetable import Timetable
from penstock.areas.triggers.web_triggers import WebTriggerService
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import Wire
from penstock.resource.answer import Encoded
from penstock.resource.ports.scripts import Notebooks
from penstock.store.store import Store, decode

_ALL = 2**31 - 1


class TriggerOverview(Wire):
    """A trigger of an action, or an endpoint or schedule of a notebook.

    Kind: event, schedule, web, notebook-endpoint or notebook-schedule. When: what makes it run, in words. ScriptName:
    the action's name, or the notebook's file name.
    """

    id: UUID
    name: str | None
    kind: str
    when: str
    script_id: UUID
    script_name: str | None
    is_enabled: bool


class TriggerList:
    """Reads all kinds."""

    def __init__(
        self,
        store: Store,
        timetable: Timetable,
        events: EventTriggerService,
        web: WebTriggerService,
        endpoints: NotebookEndpointService,
        notebooks: Notebooks,
    ) -> None:
        self._store = store
        self._timetable = timetable
        self._events = events
        self._web = web
        self._endpoints = endpoints
        self._notebooks = notebooks

    async def ticks(self, id: UUID) -> Encoded[list[TriggerTick]]:
        """What became of the due times of a schedule of either kind, newest first, at most 1,000. Raises NotFound."""
        if await self._timetable.run(id) is None:
            raise NotFound(f"'{id}' is no schedule, and only schedules have due times")
        return await self._timetable.ticks(id)

    async def all(self) -> list[TriggerOverview]:
        """Newest first."""
        triggers = await self._store.list(SCHEDULE_TRIGGERS, limit=_ALL)
        documents = await self._store.list(NOTEBOOK_SCHEDULES, limit=_ALL)
        schedules = [decode(document.body, NotebookSchedule) for document in documents]
        endpoints = await self._endpoints.all()
        notebooks = {each.notebook_id for each in schedules} | {each.notebook_id for each in endpoints}
        names = await self._notebooks.names(notebooks)
        found = [
            *[_event(each) for each in await self._events.all()],
            *[_schedule(decode(document.body, ScheduleTrigger)) for document in triggers],
            *[_web(each) for each in await self._web.all()],
            *[_endpoint(each, names) for each in endpoints],
            *[_notebook_schedule(each, names) for each in schedules],
        ]
        return sorted(found, key=attrgetter("id"), reverse=True)


def _event(trigger: EventTrigger) -> TriggerOverview:
    parts = (("type", trigger.event_type), ("source", trigger.event_source), ("version", trigger.version))
    asked = [f"{name} {value}" for name, value in parts if value and value != "*"]
    return _of_action(trigger, "event", ", ".join(asked) or "every event")


def _schedule(trigger: ScheduleTrigger) -> TriggerOverview:
    return _of_action(trigger, "schedule", _due(trigger))


def _web(trigger: WebTrigger) -> TriggerOverview:
    return _of_action(trigger, "web", f"/web/{trigger.route} ({trigger.trigger_type})")


def _endpoint(endpoint: NotebookEndpoint, names: Mapping[UUID, str]) -> TriggerOverview:
    return _of_notebook(endpoint, "notebook-endpoint", f"/web/{endpoint.route}", names)


def _notebook_schedule(schedule: NotebookSchedule, names: Mapping[UUID, str]) -> TriggerOverview:
    return _of_notebook(schedule, "notebook-schedule", _due(schedule), names)


def _due(schedule: ScheduleTrigger | NotebookSchedule) -> str:
    return schedule.cron_expression or f"every {schedule.frequency}"


def _of_action(trigger: ActionTrigger, kind: str, when: str) -> TriggerOverview:
    return TriggerOverview(
        id=trigger.key,
        name=trigger.name,
        kind=kind,
        when=when,
        script_id=trigger.action_id,
        script_name=trigger.action_name,
        is_enabled=trigger.is_enabled,
    )


def _of_notebook(
    entity: NotebookEndpoint | NotebookSchedule, kind: str, when: str, names: Mapping[UUID, str]
) -> TriggerOverview:
    return TriggerOverview(
        id=entity.key,
        name=entity.name,
        kind=kind,
        when=when,
        script_id=entity.notebook_id,
        script_name=names.get(entity.notebook_id),
        is_enabled=True,
    )
