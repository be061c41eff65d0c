"""What is done with catalogs: registered, installed, removed."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.areas.eventsources.model import EventingEventCatalogStatus
from penstock.areas.eventsources.stored import CATALOGS, INSTANCES, TRIGGERS, Catalog, SourceInstance, StoredTrigger
from penstock.bus.bus import Bus
from penstock.bus.due import Due
from penstock.connectors.packaged.message import DescribedKind, Description
from penstock.connectors.packaged.process import PackageFailed, PackageProcesses
from penstock.connectors.registry import Family
from penstock.kernel.actor import SYSTEM, Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NotFound, Stale
from penstock.packages.environment import Package
from penstock.packages.uv import InstallFailed
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store, decode

log = structlog.get_logger(__name__)

TOPIC = "catalogs"
_FIELDS = ("CatalogName", "CatalogVersion")
_WORDS = {Family.COMPONENT: "components", Family.SOURCE: "event sources"}


class CatalogService:
    """A catalog is registered as New; a replica then installs its package and notes what it brings, or why not."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        changes: Changes,
        clock: Clock,
        kinds: KnownKinds,
        processes: PackageProcesses,
    ) -> None:
        self._store = store
        self._clock = clock
        self._kinds = kinds
        self._processes = processes
        self._due = Due(bus)
        self._resolving = asyncio.Lock()
        self._catalogs = Resource(CATALOGS, store, changes, clock, kind="catalog", label="package")

    async def all(self, family: Family) -> Sequence[Catalog]:
        """Newest first, those of this installation last."""
        return await self._kinds.catalogs(family)

    async def kinds(self, family: Family) -> Sequence[tuple[Catalog, DescribedKind]]:
        """Every kind that there is, with its catalog, by identifier."""
        found = [(catalog, kind) for catalog in await self.all(family) for kind in catalog.kinds]
        return sorted(found, key=lambda each: (each[1].identifier, each[1].version))

    async def get(self, family: Family, id: UUID) -> Catalog:
        """Raises NotFound."""
        for catalog in await self.all(family):
            if catalog.id == id:
                return catalog
        raise NotFound.of("catalog", id)

    async def register(
        self, family: Family, name: str | None, version: str | None, id: UUID | None, actor: Actor
    ) -> Catalog:
        """Raises Invalid, NameTaken."""
        package = Package.checked(name, version, _FIELDS)
        catalog = Catalog(id=id, family=family, package=package.name, package_version=package.version)
        stored = await self._catalogs.create(catalog, actor)
        await self.schedule(stored.key)
        return stored

    async def remove(self, family: Family, id: UUID, actor: Actor) -> None:
        """Raises NotFound; Invalid for a catalog of this installation and one whose event sources are in use."""
        catalog = await self.get(family, id)
        if await self._store.get(CATALOGS, id) is None:
            raise Invalid.one("id", f"'{catalog.package}' is part of this installation")
        used = await self._used(catalog)
        if used:
            raise Invalid.one("id", f"its event sources are in use by {', '.join(used)}")
        await self._catalogs.delete(await self._catalogs.get(id), actor)

    async def schedule(self, id: UUID) -> None:
        """Has a replica install the catalog's package, now."""
        await self._due.schedule(f"{TOPIC}.{id}", self._clock.now(), TOPIC, str(id).encode())

    async def unfinished(self) -> Sequence[UUID]:
        """Catalogs that are New: their installation may have been lost with a process."""
        documents = await self._store.list(CATALOGS, limit=2**31 - 1)
        catalogs = [decode(document.body, Catalog) for document in documents]
        return [catalog.key for catalog in catalogs if catalog.status is EventingEventCatalogStatus.NEW]

    async def install(self, id: UUID) -> None:
        """Installs the package here, and notes what it brings. Repeated, it changes nothing."""
        try:
            catalog = await self._catalogs.get(id)
        except NotFound:
            return
        if catalog.status is not EventingEventCatalogStatus.NEW:
            return
        try:
            description = await self._described(Package(catalog.package, catalog.package_version))
            after = _ready(catalog, description)
        except (InstallFailed, PackageFailed) as error:
            after = _failed(catalog, error.detail)
        try:
            await self._catalogs.replace(after, catalog, SYSTEM)
        except (NotFound, Stale):
            return  # removed, or another replica was quicker
        log.info("catalog installed", package=str(after.installed), status=after.status.name, reason=after.message)

    async def _described(self, package: Package) -> Description:
        if package.version is not None:
            return await self._processes.of(package).describe()
        async with self._resolving:  # nobody else may need the environment that is removed here
            description = await self._processes.of(package).describe()
            # From now on it is this version, everywhere.
            await self._processes.forget(package)
            return description

    async def _used(self, catalog: Catalog) -> list[str]:
        """The event sources and triggers that use the catalog's kinds."""
        types = {(kind.identifier.casefold(), kind.version) for kind in catalog.kinds if kind.family == Family.SOURCE}
        instances = [decode(each.body, SourceInstance) for each in await self._store.list(INSTANCES, limit=2**31 - 1)]
        triggers = [decode(each.body, StoredTrigger) for each in await self._store.list(TRIGGERS, limit=2**31 - 1)]
        users: list[SourceInstance | StoredTrigger] = [*instances, *triggers]
        return [user.name for user in users if (user.type.casefold(), user.version) in types]


def _ready(catalog: Catalog, description: Description) -> Catalog:
    kinds = [kind for kind in description.kinds if kind.family == catalog.family]
    if not kinds:
        problems = "".join(f"; {problem}" for problem in description.problems)
        reason = f"{catalog.package} {description.version} has no {_WORDS[catalog.family]}{problems}"
        return _failed(catalog, reason, description)
    return msgspec.structs.replace(
        catalog,
        status=EventingEventCatalogStatus.READY,
        kinds=kinds,
        problems=description.problems,
        installed_version=description.version,
        message=None,
    )


def _failed(catalog: Catalog, reason: str, description: Description | None = None) -> Catalog:
    return msgspec.structs.replace(
        catalog,
        status=EventingEventCatalogStatus.FAILED,
        message=reason,
        problems=description.problems if description is not None else [],
    )
