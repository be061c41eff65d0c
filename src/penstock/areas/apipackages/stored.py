"""How API packages are stored."""

from penstock.apihost.message import DescribedApi
from penstock.areas.apipackages.model import IntegrationApiPackageStatus
from penstock.kernel.entity import Entity
from penstock.packages.environment import Package
from penstock.store.definition import Collection, Column, ColumnType


class StoredPackage(Entity):
    """package_version: as asked for; installed_version: what that turned out to be. digest, pure: see apihost."""

    package: str
    package_version: str | None = None
    installed_version: str | None = None
    status: IntegrationApiPackageStatus = IntegrationApiPackageStatus.NEW
    message: str | None = None
    problems: list[str] = []
    digest: str | None = None
    pure: bool = False
    apis: list[DescribedApi] = []

    @property
    def wanted(self) -> Package:
        return Package(self.package, self.package_version)

    @property
    def installed(self) -> Package:
        return Package(self.package, self.installed_version or self.package_version)

    @property
    def is_ready(self) -> bool:
        return self.status is IntegrationApiPackageStatus.READY


PACKAGES: Collection[StoredPackage] = Collection(
    "integration_api_packages",
    StoredPackage,
    (Column("name", lambda package: package.wanted.key, ColumnType.KEY, unique=True),),
)
