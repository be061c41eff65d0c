"""Operations on catalogs and the kinds in them."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.eventsources import shown
from penstock.areas.eventsources.catalogs import CatalogService
from penstock.areas.eventsources.model import (
    CatalogInstallation,
    EventingComponent,
    EventingComponentCatalog,
    EventingEventSource,
    EventingEventSourceCatalog,
    TriggerType,
)
from penstock.connectors.registry import Family
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import NotFound
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body


class ComponentCatalogOperations:
    """Kinds of components, and the packages that bring them."""

    def __init__(self, catalogs: CatalogService) -> None:
        self._catalogs = catalogs

    @operation("GET", "/eventing/component", Role.READER)
    async def components(self) -> Sequence[EventingComponent]:
        """List the kinds of components and endpoints that channels can be made of, by name."""
        return [shown.component(catalog, kind) for catalog, kind in await self._catalogs.kinds(Family.COMPONENT)]

    @operation("GET", "/eventing/component/{id}", Role.READER)
    async def component(self, id: str) -> EventingComponent:
        """Get a kind of component or endpoint by its Identifier, such as `component:filter@1.0.0`, or its name."""
        for catalog, kind in await self._catalogs.kinds(Family.COMPONENT):
            if shown.is_meant(kind, id):
                return shown.component(catalog, kind)
        raise NotFound.of("component", id)

    @operation("POST", "/eventing/componentCatalog", Role.ADMIN)
    async def register(self, catalog: Body[EventingComponentCatalog], actor: Actor) -> EventingComponentCatalog:
        """Register a catalog: a Python package whose entry points of the group `penstock.connectors` are components.

        CatalogName is the package, CatalogVersion its version, the newest when it is left out. The answer's Status is
        0 (New); the package is then installed into an environment of its own, from wheels only, and the Status becomes
        1 (Ready) or 2 (Failed). Its code runs in a process of its own.
        """
        name, version = catalog.catalog_name, catalog.catalog_version
        return shown.component_catalog(
            await self._catalogs.register(Family.COMPONENT, name, version, catalog.id, actor)
        )

    @operation("GET", "/eventing/componentCatalog", Role.READER)
    async def catalogs(self) -> Sequence[EventingComponentCatalog]:
        """List the catalogs of components, newest first; what Penstock itself brings comes last."""
        return [shown.component_catalog(catalog) for catalog in await self._catalogs.all(Family.COMPONENT)]

    @operation("DELETE", "/eventing/componentCatalog/{id}", Role.ADMIN)
    async def remove(self, id: UUID, actor: Actor) -> File:
        """Delete a catalog. Channels that use its components cannot deliver any more."""
        await self._catalogs.remove(Family.COMPONENT, id, actor)
        return File()

    @operation("GET", "/eventing/componentCatalog/{id}", Role.READER)
    async def catalog(self, id: UUID) -> EventingComponentCatalog:
        """Get a catalog of components."""
        return shown.component_catalog(await self._catalogs.get(Family.COMPONENT, id))

    @operation("GET", "/eventing/componentCatalog/{id}/installation", Role.READER, beyond=True)
    async def installation(self, id: UUID) -> CatalogInstallation:
        """Get how the installation of a catalog's package went, and why it failed if it did."""
        return shown.installation(await self._catalogs.get(Family.COMPONENT, id))


class SourceCatalogOperations:
    """Kinds of event sources, and the packages that bring them."""

    def __init__(self, catalogs: CatalogService) -> None:
        self._catalogs = catalogs

    @operation("GET", "/api/EventHub/Catalog", Role.READER)
    async def trigger_types(self) -> Sequence[TriggerType]:
        """List the kinds of event sources that can be triggers, by name."""
        kinds = await self._catalogs.kinds(Family.SOURCE)
        return [shown.trigger_type(kind) for _, kind in kinds if kind.on_servers]

    @operation("GET", "/eventing/sources", Role.READER)
    async def sources(self) -> Sequence[EventingEventSource]:
        """List the kinds of event sources, by name."""
        return [shown.event_source(catalog, kind) for catalog, kind in await self._catalogs.kinds(Family.SOURCE)]

    @operation("GET", "/eventing/sources/{id}", Role.READER)
    async def source(self, id: str) -> EventingEventSource:
        """Get a kind of event source by its Identifier, such as `source:timer@1.0.0`, or its name."""
        for catalog, kind in await self._catalogs.kinds(Family.SOURCE):
            if shown.is_meant(kind, id):
                return shown.event_source(catalog, kind)
        raise NotFound.of("event source", id)

    @operation("POST", "/eventing/sourceCatalog", Role.ADMIN)
    async def register(self, catalog: Body[EventingEventSourceCatalog], actor: Actor) -> EventingEventSourceCatalog:
        """Register a catalog: a Python package whose entry points of the group `penstock.connectors` are event sources.

        CatalogName is the package, CatalogVersion its version, the newest when it is left out. The answer's Status is
        0 (New); the package is then installed into an environment of its own, from wheels only, and the Status becomes
        1 (Ready) or 2 (Failed). Its code runs in a process of its own, on agents and servers that use it.
        """
        name, version = catalog.catalog_name, catalog.catalog_version
        return shown.source_catalog(await self._catalogs.register(Family.SOURCE, name, version, catalog.id, actor))

    @operation("GET", "/eventing/sourceCatalog", Role.READER)
    async def catalogs(self) -> Sequence[EventingEventSourceCatalog]:
        """List the catalogs of event sources, newest first; what Penstock itself brings comes last."""
        return [shown.source_catalog(catalog) for catalog in await self._catalogs.all(Family.SOURCE)]

    @operation("DELETE", "/eventing/sourceCatalog/{id}", Role.ADMIN)
    async def remove(self, id: UUID, actor: Actor) -> File:
        """Delete a catalog. One whose event sources are in use answers 400."""
        await self._catalogs.remove(Family.SOURCE, id, actor)
        return File()

    @operation("GET", "/eventing/sourceCatalog/{id}", Role.READER)
    async def catalog(self, id: UUID) -> EventingEventSourceCatalog:
        """Get a catalog of event sources."""
        return shown.source_catalog(await self._catalogs.get(Family.SOURCE, id))

    @operation("GET", "/eventing/sourceCatalog/{id}/installation", Role.READER, beyond=True)
    async def installation(self, id: UUID) -> CatalogInstallation:
        """Get how the installation of a catalog's package went, and why it failed if it did."""
        return shown.installation(await self._catalogs.get(Family.SOURCE, id))
