"""Which kinds there are: those of this installation, and those of the packages in catalogs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from penstock.areas.eventsources.model import EventingEventCatalogStatus
from penstock.areas.eventsources.stored import CATALOGS, Catalog
from penstock.connectors.packaged.kinds import packaged_kinds
from penstock.connectors.packaged.message import DescribedKind
from penstock.connectors.packaged.process import PackageProcesses
from penstock.connectors.registry import Family, Registered, registry
from penstock.kernel.ids import derived_id
from penstock.kernel.wire import encode
from penstock.packages.environment import Package
from penstock.resource.mirror import Mirror
from penstock.store.store import Store

_SINCE = datetime(2026, 1, 1, tzinfo=UTC)
_FAMILIES = {Family.COMPONENT: (Family.COMPONENT, Family.ENDPOINT), Family.SOURCE: (Family.SOURCE,)}
"""The families of kinds in a catalog of components, and in one of event sources."""


class KnownKinds:
    """Keeps the registry in step with the catalogs that are ready.

    A package is installed where its kinds are used, when they first are.
    """

    def __init__(self, store: Store, processes: PackageProcesses) -> None:
        self._mirror = Mirror(store, CATALOGS, lambda catalog: catalog)
        self._processes = processes
        self._registry = registry()
        self._view: Mapping[UUID, Catalog] = {}

    async def refresh(self) -> None:
        """Makes the registry know the kinds of the catalogs as stored now."""
        view = await self._mirror.current()
        if view is self._view:
            return
        ready = [catalog for catalog in view.values() if catalog.status is EventingEventCatalogStatus.READY]
        self._registry.put_packaged(self, (kind for catalog in ready for kind in self._kinds(catalog)))
        gone = self._packages()
        self._view = view
        for package in gone:
            if package not in self._packages():  # nor in a catalog that has come meanwhile
                await self._processes.forget(package)

    async def source(self, identifier: str | None, version: str | None) -> Registered:
        """Raises Invalid, see Registry.registered."""
        await self.refresh()
        return self.known_source(identifier, version)

    def known_source(self, identifier: str | None, version: str | None) -> Registered:
        """As of the last `refresh`. Raises Invalid."""
        return self._registry.registered(Family.SOURCE, identifier, version)

    async def catalogs(self, family: Family) -> Sequence[Catalog]:
        """Every catalog of components or of event sources, newest first; those of this installation come last."""
        await self.refresh()
        stored = [catalog for catalog in self._view.values() if catalog.family is family]
        return [*sorted(stored, key=lambda catalog: catalog.key, reverse=True), *self._of_installation(family)]

    def _packages(self) -> set[Package]:
        return {catalog.installed for catalog in self._view.values()}

    def _kinds(self, catalog: Catalog) -> Sequence[Registered]:
        allow_private = self._processes.allow_private
        return packaged_kinds(catalog.installed, catalog.kinds, self._processes.of, allow_private=allow_private)

    def _of_installation(self, family: Family) -> Sequence[Catalog]:
        """The packages of this installation, as catalogs."""
        kinds: dict[tuple[str, str], list[DescribedKind]] = {}
        for each in _FAMILIES[family]:
            for registered in self._registry.all(each):
                if not registered.packaged:
                    package = registered.package, registered.package_version
                    kinds.setdefault(package, []).append(described(each, registered))
        return [
            Catalog(
                id=derived_id(_SINCE, "catalog", family, package),
                e_tag=version,
                created_by="system",
                created_date=_SINCE,
                family=family,
                package=package,
                package_version=version,
                status=EventingEventCatalogStatus.READY,
                kinds=found,
            )
            for (package, version), found in kinds.items()
        ]


def described(family: Family, registered: Registered) -> DescribedKind:
    """A kind as its package would describe it."""
    kind = registered.kind
    return DescribedKind(
        family=family,
        identifier=kind.identifier,
        version=kind.version,
        description=kind.description(),
        schema=encode(kind.schema()).decode(),
        requires_polling=getattr(kind, "requires_polling", False),
        stateful=getattr(kind, "stateful", False),
        shared=getattr(kind, "shared", False),
        on_servers=getattr(kind, "on_servers", True),
    )
