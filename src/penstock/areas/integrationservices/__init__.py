"""Integration services: templates that flows are generated from."""

from penstock.areas.integrationservices.http import IntegrationServiceOperations
from penstock.areas.integrationservices.kinds.integration_service import IntegrationServiceKind
from penstock.areas.integrationservices.model import SERVICES
from penstock.areas.integrationservices.service import IntegrationServices
from penstock.resource.area import Area

AREA = Area(
    "integrationservices",
    collections=(SERVICES,),
    services=(IntegrationServices,),
    handlers=(IntegrationServiceOperations,),
    kinds=(IntegrationServiceKind,),
)
