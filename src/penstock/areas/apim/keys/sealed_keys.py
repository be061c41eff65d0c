"""The keys of subscriptions, sealed beside them as a JSON array, the newest first."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from penstock.areas.apim.stored import API_SUBSCRIPTIONS, StoredSubscription
from penstock.kernel.clock import Clock
from penstock.kernel.wire import encode
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store


class SealedKeys:
    """Seals keys, and opens them."""

    def __init__(self, store: Store, secrets: Secrets, clock: Clock) -> None:
        self._sealed = Sealed(API_SUBSCRIPTIONS, store, secrets, clock)

    def seal(self, subscription: StoredSubscription, keys: Sequence[str]) -> bytes:
        """For `sealed` of the subscription's write."""
        return self._sealed.seal(subscription.key, encode(list(keys)).decode())

    async def of(self, subscription: StoredSubscription) -> list[str]:
        """Raises SecretUnreadable."""
        return _keys(await self._sealed.open(subscription.key))

    async def of_all(self, ids: Sequence[UUID]) -> Mapping[UUID, list[str]]:
        """What cannot be read is logged and left out."""
        return {id: _keys(text) for id, text in (await self._sealed.open_all(ids)).items()}

    async def renew_seals(self) -> Renewal:
        """Seals keys under the current master key."""
        return await self._sealed.renew()


def _keys(text: str | None) -> list[str]:
    return msgspec.json.decode(text, type=list[str]) if text else []
