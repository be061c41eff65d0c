"""Variables, some of them secret, that integrations use."""

from penstock.areas.variables.http import VariableHandlers
from penstock.areas.variables.kinds.variable import VariableKind
from penstock.areas.variables.model import VARIABLES
from penstock.areas.variables.service import VariableService
from penstock.areas.variables.worker import SealRenewal
from penstock.resource.area import Area
from penstock.resource.ports.variables import Variables

AREA = Area(
    name="variables",
    collections=(VARIABLES,),
    services=(VariableService,),
    handlers=(VariableHandlers,),
    workers=(SealRenewal,),
    kinds=(VariableKind,),
    provides=((Variables, VariableService),),
)
