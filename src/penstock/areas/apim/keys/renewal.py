"""Keys after a change of the master key: sealed and fingerprinted anew."""

import msgspec
import structlog

from penstock.areas.apim.keys.change import KeyChanges
from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, StoredSubscription
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Stale
from penstock.resource.resource import expires_at
from penstock.resource.secrets import Secrets
from penstock.store.store import Store
from penstock.store.write import Replace

log = structlog.get_logger(__name__)


class KeyRenewals:
    """Done when the server starts; may be repeated, by several replicas at once."""

    def __init__(
        self, store: Store, clock: Clock, secrets: Secrets, registers: Registers, keys: SealedKeys, planning: KeyChanges
    ) -> None:
        self._store = store
        self._clock = clock
        self._secrets = secrets
        self._registers = registers
        self._keys = keys
        self._planning = planning

    async def renew(self) -> None:
        """Fingerprints by an earlier master key would not meet those by the current one."""
        if not self._secrets.rotated:
            return
        await self._keys.renew_seals()
        subscriptions = (await self._registers.current()).subscriptions
        keys = await self._keys.of_all([id for id, each in subscriptions.items() if each.key_prints])
        renewed = [await self._renew(subscriptions[id], found) for id, found in keys.items()]
        if any(renewed):
            log.info("keys fingerprinted anew", count=sum(renewed))

    async def _renew(self, subscription: StoredSubscription, keys: list[str]) -> bool:
        prints = list(self._planning.prints(subscription, keys))
        if prints == subscription.key_prints:
            return False
        e_tag = subscription.e_tag or ""
        after = msgspec.structs.replace(subscription, key_prints=prints)
        # The same ETag: nothing that an operator could have based a change on is different.
        expires = expires_at(after, after.update_date) if after.update_date is not None else None
        replace = Replace(
            API_SUBSCRIPTIONS, subscription.key, e_tag, after, self._clock.now(), e_tag, expires, keep_sealed=True
        )
        try:
            await self._store.commit([replace])
        except (NotFound, Stale):
            return False  # changed meanwhile, with the current key
        return True
