"""The interactive engine: code, suggestions and documents, for editors."""

from penstock.areas.interactive.http import InteractiveOperations
from penstock.areas.interactive.rules import EngineRules
from penstock.areas.interactive.service import InteractiveService
from penstock.resource.area import Area
from penstock.resource.ports.rules import CodeRules
from penstock.resource.run_files import RunFiles

AREA = Area(
    name="interactive",
    services=(RunFiles, InteractiveService, EngineRules),
    handlers=(InteractiveOperations,),
    provides=((CodeRules, EngineRules),),
)
