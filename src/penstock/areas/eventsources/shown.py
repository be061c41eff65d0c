"""Catalogs and kinds in the form of the API."""

from penstock.areas.eventsources.model import (
    CatalogInstallation,
    EventingComponent,
    EventingComponentCatalog,
    EventingComponentCatalogStatus,
    EventingEventSource,
    EventingEventSourceCatalog,
    EventingEventSourceCatalogAgent,
    TriggerType,
    TriggerTypeConfiguration,
    Version,
)
from penstock.areas.eventsources.stored import Catalog
from penstock.connectors.packaged.message import DescribedKind
from penstock.connectors.registry import Family

_WORDS = {Family.COMPONENT: "component", Family.ENDPOINT: "endpoint", Family.SOURCE: "source"}


def identifier_of(kind: DescribedKind) -> str:
    """Like `source:timer@1.0.0`."""
    return f"{_WORDS[Family(kind.family)]}:{kind.identifier}@{kind.version}"


def is_meant(kind: DescribedKind, wanted: str) -> bool:
    """Whether an identifier, or a name alone, means the kind; compared without case."""
    return wanted.casefold() in (identifier_of(kind).casefold(), kind.identifier.casefold())


def component(catalog: Catalog, kind: DescribedKind) -> EventingComponent:
    return EventingComponent(
        component_catalog_id=catalog.key,
        catalog_name=catalog.package,
        catalog_version=catalog.installed.version,
        name=kind.identifier,
        version=kind.version,
        configuration_schema=kind.schema,
        description=kind.description,
        product_version=catalog.installed.version,
        identifier=identifier_of(kind),
    )


def event_source(catalog: Catalog, kind: DescribedKind) -> EventingEventSource:
    return EventingEventSource(
        event_source_catalog_id=catalog.key,
        catalog_name=catalog.package,
        catalog_version=catalog.installed.version,
        name=kind.identifier,
        version=kind.version,
        configuration_schema=kind.schema,
        description=kind.description,
        product_version=catalog.installed.version,
        requires_polling=kind.requires_polling,
        identifier=identifier_of(kind),
    )


def trigger_type(kind: DescribedKind) -> TriggerType:
    return TriggerType(
        name=kind.identifier,
        version=Version.of(kind.version),
        description=kind.description,
        configuration=TriggerTypeConfiguration(
            requires_polling=kind.requires_polling, configuration_schema=kind.schema
        ),
    )


def component_catalog(catalog: Catalog) -> EventingComponentCatalog:
    return EventingComponentCatalog(
        **catalog.base,
        catalog_name=catalog.package,
        catalog_version=catalog.installed.version,
        components=[component(catalog, kind) for kind in catalog.kinds],
        status=EventingComponentCatalogStatus(catalog.status),
    )


def source_catalog(catalog: Catalog) -> EventingEventSourceCatalog:
    return EventingEventSourceCatalog(
        **catalog.base,
        catalog_name=catalog.package,
        catalog_version=catalog.installed.version,
        event_sources=[event_source(catalog, kind) for kind in catalog.kinds],
        status=catalog.status,
    )


def agent_catalog(catalog: Catalog) -> EventingEventSourceCatalogAgent:
    return EventingEventSourceCatalogAgent(
        id=catalog.key, catalog_name=catalog.package, catalog_version=catalog.installed.version
    )


def installation(catalog: Catalog) -> CatalogInstallation:
    return CatalogInstallation(
        status=catalog.status,
        message=catalog.message,
        problems=catalog.problems,
        updated=catalog.update_date or catalog.created_date,
    )
