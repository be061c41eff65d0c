"""Connectors: the registry of packages that make APIs with an OpenAPI document usable."""

from penstock.areas.connectors.http import ConnectorOperations
from penstock.areas.connectors.kinds.openapi_connector import OpenApiConnectorKind
from penstock.areas.connectors.model import OPENAPI_CONNECTORS
from penstock.areas.connectors.service import ConnectorService
from penstock.resource.area import Area

AREA = Area(
    "connectors",
    collections=(OPENAPI_CONNECTORS,),
    services=(ConnectorService,),
    handlers=(ConnectorOperations,),
    kinds=(OpenApiConnectorKind,),
)
