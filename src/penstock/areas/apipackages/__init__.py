"""API packages: Python packages that bring APIs, and the catalog of these APIs."""

from penstock.areas.apipackages.http import ApiOperations, ApiPackageOperations
from penstock.areas.apipackages.kinds.integration_api_package import IntegrationApiPackageKind
from penstock.areas.apipackages.known_apis import KnownApis
from penstock.areas.apipackages.service import ApiPackageService
from penstock.areas.apipackages.stored import PACKAGES
from penstock.areas.apipackages.worker import ApiPackageInstaller
from penstock.resource.area import Area
from penstock.resource.ports.apis import ApiCatalog

AREA = Area(
    "apipackages",
    collections=(PACKAGES,),
    services=(ApiPackageService, KnownApis),
    handlers=(ApiOperations, ApiPackageOperations),
    workers=(ApiPackageInstaller,),
    kinds=(IntegrationApiPackageKind,),
    provides=((ApiCatalog, KnownApis),),
)
