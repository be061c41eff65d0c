"""Triggers of actions, and endpoints and schedules of notebooks."""

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
from penstock.areas.triggers.uses import TriggerUses
from penstock.resource.area import Area
from penstock.resource.ports import ScriptUses

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
    services=(TriggerUses,),
    provides=((ScriptUses, TriggerUses),),
)
