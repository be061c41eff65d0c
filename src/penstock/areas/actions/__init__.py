"""Actions: scripts with parameters, run by hand, by triggers, with history."""

from penstock.areas.actions.http import ActionOperations
from penstock.areas.actions.model import ACTIONS
from penstock.areas.actions.service import ActionService
from penstock.resource.area import Area
from penstock.resource.ports.scripts import Actions

AREA = Area(
    name="actions",
    collections=(ACTIONS,),
    services=(ActionService,),
    handlers=(ActionOperations,),
    provides=((Actions, ActionService),),
)
