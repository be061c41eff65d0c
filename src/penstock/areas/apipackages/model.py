"""API packages as the API shows them (specification 1, "Integration resources")."""

from datetime import datetime
from enum import IntEnum
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire


class IntegrationApiPackageStatus(IntEnum):
    """How a package stands: 0 is being installed, 1 ready, 2 could not be installed."""

    NEW = 0
    READY = 1
    FAILED = 2


class IntegrationApi(Wire):
    """An API that a package brings. ConfigurationSchema: JSON Schema of what endpoints configure.

    ProductVersion: of the package as installed. Identifier: name and version, such as `api:sql@1.0.0`.
    """

    api_package_id: UUID
    package_name: str | None = None
    package_version: str | None = None
    api_name: str | None = None
    api_version: str | None = None
    configuration_schema: str | None = None
    description: str | None = None
    product_version: str | None = None
    identifier: str | None = None


class IntegrationApiPackage(Entity):
    """A Python package whose entry points of the group `penstock.apis` are APIs."""

    package_name: str | None = None
    package_version: str | None = None
    apis: list[IntegrationApi] | None = None
    status: IntegrationApiPackageStatus = IntegrationApiPackageStatus.NEW


class ApiPackageInstallation(Wire):
    """How the installation of a package went.

    Message: why it failed. Problems: parts of the package that cannot be used. Digest: of its files as installed;
    agents refuse a package of another one. Updated: when this was noted.
    """

    status: IntegrationApiPackageStatus
    message: str | None = None
    problems: list[str]
    digest: str | None = None
    updated: datetime


class IntegrationApiPackageAgent(Wire):
    """A package as agents see it."""

    id: UUID
    package_name: str | None = None
    package_version: str | None = None
