"""Connectors (specification 1, "Integration resources")."""

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
from penstock.store.definition import Collection, Column, ColumnType


class OpenApiConnectorRegistryItemSpec(Wire):
    """A connector: a package that makes an API described by an OpenAPI document usable."""

    name: str | None = None
    description: str | None = None
    package: str | None = None
    version: str | None = None
    labels: list[str] | None = None


class OpenApiConnectorRegistryItem(Wire):
    """An entry of the registry of connectors."""

    spec: OpenApiConnectorRegistryItemSpec | None = None


class OpenApiConnector(Entity):
    """A connector as stored."""

    name: str
    description: str | None = None
    package: str
    version: str | None = None
    labels: list[str] = []

    def shown(self) -> OpenApiConnectorRegistryItem:
        return OpenApiConnectorRegistryItem(
            spec=OpenApiConnectorRegistryItemSpec(
                name=self.name,
                description=self.description,
                package=self.package,
                version=self.version,
                labels=self.labels,
            )
        )


OPENAPI_CONNECTORS: Collection[OpenApiConnector] = Collection(
    "openapi_connectors",
    OpenApiConnector,
    (Column("name", lambda connector: connector.name, ColumnType.KEY, unique=True),),
)
