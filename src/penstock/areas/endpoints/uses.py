"""Which APIs endpoints host."""

from collections.abc import Collection, Sequence

from penstock.areas.endpoints.stored import ENDPOINTS
from penstock.resource.mirror import Mirror
from penstock.store.store import Store


class EndpointUses:
    """Asked before the package of an API is removed."""

    def __init__(self, store: Store) -> None:
        self._mirror = Mirror(store, ENDPOINTS, lambda endpoint: endpoint)

    async def users(self, apis: Collection[tuple[str, str]]) -> Sequence[str]:
        """See ApiUses."""
        wanted = {(name.casefold(), version) for name, version in apis}
        endpoints = (await self._mirror.current()).values()
        return sorted(each.name for each in endpoints if (each.api_name.casefold(), each.api_version) in wanted)
