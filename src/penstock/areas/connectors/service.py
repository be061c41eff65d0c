"""What is done with connectors: listed, and planned by configuration documents."""

from collections.abc import Sequence

import msgspec

from penstock.areas.connectors.model import OPENAPI_CONNECTORS, OpenApiConnector, OpenApiConnectorRegistryItem
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write


class ConnectorService:
    """The registry of connectors."""

    def __init__(self, store: Store, changes: Changes, clock: Clock) -> None:
        self._connectors = Resource(OPENAPI_CONNECTORS, store, changes, clock, kind="connector")

    async def all(self) -> list[OpenApiConnectorRegistryItem]:
        """Newest first."""
        return [connector.shown() for connector in await self._connectors.decoded()]

    async def find(self, name: str) -> OpenApiConnector | None:
        return await self._connectors.find("name", name)

    def plan_put(
        self, wanted: OpenApiConnector, before: OpenApiConnector | None, actor: Actor
    ) -> tuple[OpenApiConnector, Sequence[Write]]:
        """The connector as it will be, and the writes that make it so; none when nothing differs."""
        if before is None:
            return self._connectors.plan_create(wanted, actor)
        after = msgspec.structs.replace(
            before,
            description=wanted.description,
            package=wanted.package,
            version=wanted.version,
            labels=wanted.labels,
        )
        if after == before:
            return before, ()
        return self._connectors.plan_replace(after, before, actor)

    async def plan_remove(self, connector: OpenApiConnector, actor: Actor) -> Sequence[Write]:
        return self._connectors.plan_delete(connector, actor, connector.e_tag)

    async def announce(self, connector: OpenApiConnector) -> None:
        """Tells of a change, once it is committed."""
        await self._connectors.commit([], connector)
