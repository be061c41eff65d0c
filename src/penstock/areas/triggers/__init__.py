"""Triggers of actions, and endpoints and schedules of notebooks."""

from penstock.areas.triggers.event_http import EventTriggerOperations
from penstock.areas.triggers.event_matches import EventMatches
from penstock.areas.triggers.event_runs import EventRuns
from penstock.areas.triggers.event_triggers import EventTriggerService
from penstock.areas.triggers.named_routes import NamedRoutes
from penstock.areas.triggers.named_scripts import NamedScripts
from penstock.areas.triggers.notebook_endpoints import NotebookEndpointService
from penstock.areas.triggers.notebook_schedules import NotebookScheduleService
from penstock.areas.triggers.overview import TriggerList
from penstock.areas.triggers.overview_http import TriggerOverviewOperations
from penstock.areas.triggers.routes import Routes
from penstock.areas.triggers.schedule_http import NotebookScheduleOperations, ScheduleTriggerOperations
from penstock.areas.triggers.schedule_runs import ScheduleRuns
from penstock.areas.triggers.schedule_triggers import ScheduleTriggerService
from penstock.areas.triggers.stored import (
    EVENT_TRIGGERS,
    NOTEBOOK_ENDPOINTS,
    NOTEBOOK_SCHEDULES,
    SCHEDULE_RUNS,
    SCHEDULE_TRIGGERS,
    TICKS,
    WEB_ROUTES,
    WEB_TRIGGERS,
)
from penstock.areas.triggers.timetable import Timetable
from penstock.areas.triggers.uses import TriggerUses
from penstock.areas.triggers.web_http import (
    NotebookEndpointOperations,
    WebRouteOperations,
    WebTriggerOperations,
)
from penstock.areas.triggers.web_runs import WebRuns
from penstock.areas.triggers.web_triggers import WebTriggerService
from penstock.areas.triggers.worker import (
    EventMatching,
    EventTriggerRunner,
    ScheduleRepair,
    ScheduleRunner,
    WebRunsGoingOn,
)
from penstock.resource.area import Area
from penstock.resource.ports.scripts import ScriptUses
from penstock.resource.ports.web_routes import WebRoutes, WebScripts

AREA = Area(
    name="triggers",
    collections=(
        EVENT_TRIGGERS,
        NOTEBOOK_ENDPOINTS,
        NOTEBOOK_SCHEDULES,
        SCHEDULE_RUNS,
        SCHEDULE_TRIGGERS,
        WEB_ROUTES,
        WEB_TRIGGERS,
    ),
    journals=(TICKS,),
    services=(
        EventMatches,
        EventRuns,
        EventTriggerService,
        NamedRoutes,
        NamedScripts,
        NotebookEndpointService,
        NotebookScheduleService,
        Routes,
        ScheduleRuns,
        ScheduleTriggerService,
        Timetable,
        TriggerList,
        TriggerUses,
        WebRuns,
        WebTriggerService,
    ),
    handlers=(
        EventTriggerOperations,
        NotebookEndpointOperations,
        NotebookScheduleOperations,
        ScheduleTriggerOperations,
        TriggerOverviewOperations,
        WebRouteOperations,
        WebTriggerOperations,
    ),
    workers=(EventMatching, EventTriggerRunner, ScheduleRepair, ScheduleRunner, WebRunsGoingOn),
    provides=((ScriptUses, TriggerUses), (WebRoutes, NamedRoutes), (WebScripts, NamedScripts)),
)
