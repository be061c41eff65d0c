"""Operations on API packages and the APIs in them."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.apipackages import shown
from penstock.areas.apipackages.known_apis import KnownApis
from penstock.areas.apipackages.model import (
    ApiPackageInstallation,
    IntegrationApi,
    IntegrationApiPackage,
    IntegrationApiPackageAgent,
)
from penstock.areas.apipackages.service import ApiPackageService
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import NotFound
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body


class ApiOperations:
    """The APIs that endpoints can host."""

    def __init__(self, known: KnownApis) -> None:
        self._known = known

    @operation("GET", "/integrations/api/{name}/{version}", Role.READER)
    async def of_version(self, name: str, version: str) -> IntegrationApi:
        """Get an API by its name, compared without case, and its version."""
        for package, api in await self._known.apis():
            if (api.name.casefold(), api.version) == (name.casefold(), version):
                return shown.shown_api(package, api)
        raise NotFound.of("API", f"{name} {version}")

    @operation("GET", "/integrations/api/{id}", Role.READER)
    async def get(self, id: str) -> IntegrationApi:
        """Get an API by its Identifier, such as `api:sql@1.0.0`, or by its name: then the one registered last."""
        for package, api in await self._known.apis():
            if id.casefold() in (shown.identifier_of(api).casefold(), api.name.casefold()):
                return shown.shown_api(package, api)
        raise NotFound.of("API", id)

    @operation("GET", "/integrations/api", Role.READER)
    async def list(self) -> Sequence[IntegrationApi]:
        """List the APIs of the packages that are ready, the package registered last first."""
        return [shown.shown_api(package, api) for package, api in await self._known.apis()]


class ApiPackageOperations:
    """Packages that bring APIs."""

    def __init__(self, packages: ApiPackageService) -> None:
        self._packages = packages

    @operation("POST", "/integrations/packages", Role.ADMIN)
    async def register(self, package: Body[IntegrationApiPackage], actor: Actor) -> IntegrationApiPackage:
        """Register a package: a Python distribution whose entry points of the group `penstock.apis` are APIs.

        PackageVersion is the newest when it is left out. The answer's Status is 0 (New); the package is then installed
        from the package index into an environment of its own, from wheels only, and the Status becomes 1 (Ready) or
        2 (Failed). Agents that host one of its APIs install the same version, and refuse other files than these.
        """
        name, version = package.package_name, package.package_version
        return shown.shown_package(await self._packages.register(name, version, package.id, actor))

    @operation("GET", "/integrations/packages", Role.READER)
    async def list(self) -> Sequence[IntegrationApiPackage]:
        """List the packages, newest first."""
        return [shown.shown_package(package) for package in await self._packages.all()]

    @operation("DELETE", "/integrations/packages/{id}", Role.ADMIN)
    async def remove(self, id: UUID, actor: Actor) -> File:
        """Delete a package. One whose APIs endpoints use answers 400 and names them."""
        await self._packages.remove(id, actor)
        return File()

    @operation("GET", "/integrations/packages/{id}", Role.READER)
    async def get(self, id: UUID) -> IntegrationApiPackage:
        """Get a package with its APIs."""
        return shown.shown_package(await self._packages.get(id))

    @operation("GET", "/integrations/packages/{id}/installation", Role.READER, beyond=True)
    async def installation(self, id: UUID) -> ApiPackageInstallation:
        """Get how the installation of a package went, why it failed if it did, and the digest of its files."""
        return shown.shown_installation(await self._packages.get(id))

    @operation("GET", "/agent/api/packages", Role.AGENT, Role.READER)
    async def for_agents(self) -> Sequence[IntegrationApiPackageAgent]:
        """List the packages whose APIs agents may have to host."""
        return [shown.shown_to_agents(package) for package in await self._packages.all() if package.is_ready]
