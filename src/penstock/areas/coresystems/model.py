"""Core systems (specification 1, "Integration resources")."""

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Map, Wire
from penstock.protocol.core_system import CoreSystem2
from penstock.store.definition import Collection, Column, ColumnType

STORAGE = "storage"
"""The category that makes a core system a storage, in any case."""


class CoreSystemDto(Wire):
    """A core system. Variables: a JSON object, secrets as `********`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    category: str | None = None
    type: str | None = None
    variables: str | None = None


class CoreDto(Wire):
    """A core system that is no storage. Label: its title, or else its name."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    label: str | None = None


class StorageDto(Wire):
    """A core system of the category `storage`."""

    name: str | None = None
    description: str | None = None


class StoredCoreSystem(Entity):
    """A core system as stored. Secrets are masked in `variables` and sealed beside it."""

    name: str
    title: str | None = None
    description: str | None = None
    category: str | None = None
    type: str | None = None
    variables: Map = {}

    @property
    def is_storage(self) -> bool:
        return (self.category or "").casefold() == STORAGE

    def shown(self) -> CoreSystem2:
        return CoreSystem2(
            name=self.name,
            title=self.title,
            description=self.description,
            category=self.category,
            type=self.type,
            variables=self.variables,
        )


CORE_SYSTEMS: Collection[StoredCoreSystem] = Collection(
    "core_systems", StoredCoreSystem, (Column("name", lambda system: system.name, ColumnType.KEY, unique=True),)
)
