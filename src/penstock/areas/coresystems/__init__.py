"""Core systems: what integrations connect, storages of files among them, with what is needed to reach them."""

from penstock.areas.coresystems.http import CoreSystemOperations
from penstock.areas.coresystems.kinds.core_system import CoreSystemKind
from penstock.areas.coresystems.model import CORE_SYSTEMS
from penstock.areas.coresystems.service import CoreSystemService
from penstock.areas.coresystems.worker import CoreSystemSealRenewal
from penstock.resource.area import Area
from penstock.resource.ports.core_systems import CoreSystems

AREA = Area(
    "coresystems",
    collections=(CORE_SYSTEMS,),
    services=(CoreSystemService,),
    handlers=(CoreSystemOperations,),
    workers=(CoreSystemSealRenewal,),
    kinds=(CoreSystemKind,),
    provides=((CoreSystems, CoreSystemService),),
)
