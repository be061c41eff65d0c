"""What is done with API packages: registered, installed, removed."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.apihost.message import ApiFailed, PackageDescription
from penstock.apihost.packages import ApiPackages
from penstock.areas.apipackages.known_apis import KnownApis
from penstock.areas.apipackages.model import IntegrationApiPackageStatus
from penstock.areas.apipackages.stored import PACKAGES, StoredPackage
from penstock.bus.bus import Bus
from penstock.bus.due import Due
from penstock.kernel.actor import SYSTEM, Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NotFound, Stale
from penstock.packages.environment import Package
from penstock.packages.uv import InstallFailed
from penstock.resource.changes import Changes
from penstock.resource.ports.apis import ApiUses
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write

log = structlog.get_logger(__name__)

TOPIC = "api-packages"
_FIELDS = ("PackageName", "PackageVersion")
_Status = IntegrationApiPackageStatus


class ApiPackageService:
    """A package is registered as New; a replica then installs it and notes what it brings, or why not."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        changes: Changes,
        clock: Clock,
        known: KnownApis,
        uses: ApiUses,
        packages: ApiPackages,
    ) -> None:
        self._clock = clock
        self._known = known
        self._uses = uses
        self._packages = packages
        self._due = Due(bus)
        self._resource = Resource(PACKAGES, store, changes, clock, kind="API package", label="package")

    async def all(self) -> Sequence[StoredPackage]:
        """Newest first."""
        return await self._known.packages()

    async def get(self, id: UUID) -> StoredPackage:
        """Raises NotFound."""
        return await self._resource.get(id)

    async def of_name(self, name: str) -> Sequence[StoredPackage]:
        """Every version of a package."""
        key = Package(name).key
        return [package for package in await self.all() if Package(package.package).key == key]

    async def register(self, name: str | None, version: str | None, id: UUID | None, actor: Actor) -> StoredPackage:
        """Raises Invalid, NameTaken."""
        stored, writes = self.plan_register(name, version, actor, id=id)
        await self._resource.commit(writes, stored)
        await self.schedule(stored.key)
        return stored

    def plan_register(
        self,
        name: str | None,
        version: str | None,
        actor: Actor,
        *,
        id: UUID | None = None,
        fields: tuple[str, str] = _FIELDS,
    ) -> tuple[StoredPackage, Sequence[Write]]:
        """The package as it will be, and the writes. `schedule` it after the commit. Raises Invalid."""
        package = Package.checked(name, version, fields)
        return self._resource.plan_create(
            StoredPackage(id=id, package=package.name, package_version=package.version), actor
        )

    async def remove(self, id: UUID, actor: Actor) -> None:
        """Raises NotFound; Invalid for one whose APIs are in use."""
        package = await self.get(id)
        writes = await self.plan_remove(package, actor)
        await self._resource.commit(writes, package)
        await self.announce_removed(package)

    async def plan_remove(self, package: StoredPackage, actor: Actor, field: str = "id") -> Sequence[Write]:
        """The writes. Raises Invalid naming `field` for a package whose APIs are in use."""
        others = {
            (api.name.casefold(), api.version)
            for other in await self.all()
            if other.is_ready and other.key != package.key
            for api in other.apis
        }
        alone = [(api.name, api.version) for api in package.apis if (api.name.casefold(), api.version) not in others]
        used = await self._uses.users(alone)
        if used:
            raise Invalid.one(field, f"its APIs are in use by the endpoints {', '.join(used)}")
        return self._resource.plan_delete(package, actor, package.e_tag)

    async def announce_removed(self, package: StoredPackage) -> None:
        """Tells of a removal, once it is committed, and removes what was installed here."""
        await self._resource.commit([], package)
        await self._packages.remove(package.installed)

    async def schedule(self, id: UUID) -> None:
        """Has a replica install the package, now."""
        await self._due.schedule(f"{TOPIC}.{id}", self._clock.now(), TOPIC, str(id).encode())

    async def unfinished(self) -> Sequence[UUID]:
        """Packages that are New: their installation may have been lost with a process."""
        return [package.key for package in await self.all() if package.status is _Status.NEW]

    async def install(self, id: UUID) -> None:
        """Installs the package here, and notes what it brings. Repeated, it changes nothing."""
        try:
            package = await self.get(id)
        except NotFound:
            return
        if package.status is not _Status.NEW:
            return
        try:
            after = _described(package, await self._packages.describe(package.wanted))
        except (InstallFailed, ApiFailed) as error:
            after = _failed(package, error.detail)
        try:
            await self._resource.replace(after, package, SYSTEM)
        except (NotFound, Stale):
            return  # removed, or another replica was quicker
        log.info("API package installed", package=str(after.installed), status=after.status.name, reason=after.message)


def _described(package: StoredPackage, description: PackageDescription) -> StoredPackage:
    found = msgspec.structs.replace(
        package,
        installed_version=description.version,
        digest=description.digest,
        pure=description.pure,
        problems=description.problems,
        apis=description.apis,
    )
    if description.apis:
        return msgspec.structs.replace(found, status=_Status.READY, message=None)
    problems = "".join(f"; {problem}" for problem in description.problems)
    return _failed(found, f"{package.package} {description.version} has no APIs{problems}")


def _failed(package: StoredPackage, reason: str) -> StoredPackage:
    return msgspec.structs.replace(package, status=_Status.FAILED, message=reason)
