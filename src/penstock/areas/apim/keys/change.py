"""The keys that a subscription will have."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from penstock.areas.apim.keys.key import KeyPrints, key_errors, new_key
from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.model import MASK
from penstock.areas.apim.stored import StoredSubscription
from penstock.kernel.errors import FieldError
from penstock.protocol.gateway import Access


@dataclass(frozen=True)
class KeyChange:
    """prints: of all keys, the newest first. sealed: all keys; None: they stay. shown: a new key, in clear."""

    prints: Sequence[str]
    overlap_until: datetime | None = None
    sealed: bytes | None = None
    shown: str | None = None

    def applied(self, subscription: StoredSubscription) -> StoredSubscription:
        """The subscription with these keys."""
        return msgspec.structs.replace(subscription, key_prints=list(self.prints), overlap_until=self.overlap_until)


class KeyChanges:
    """Plans which keys there will be."""

    def __init__(self, keys: SealedKeys, prints: KeyPrints) -> None:
        self._keys = keys
        self._prints = prints

    async def wanted(
        self,
        after: StoredSubscription,
        before: StoredSubscription | None,
        given: str | None,
        errors: list[FieldError],
    ) -> KeyChange:
        """For a subscription that is made or changed. given: a key, or the mask or None, which leave it as it is.

        What is wrong with it goes to `errors`. Raises SecretUnreadable.
        """
        if given is not None and given != MASK:
            found = key_errors(given) if after.type is not Access.OIDC else [FieldError("Key", "is not used by oidc")]
            errors += found
        if errors:
            return KeyChange(())
        if after.type is Access.OIDC:
            return self.of(after, [])
        kept = await self._keys.of(before) if before is not None and before.type is not Access.OIDC else None
        if given is None or given == MASK:
            return self._kept(after, before, kept) if kept is not None and before is not None else self.new(after)
        if kept and kept[0] == given and before is not None:
            return self._kept(after, before, kept)
        return self.of(after, [given], shown=given)

    def new(self, subscription: StoredSubscription) -> KeyChange:
        """One new key."""
        key = new_key()
        return self.of(subscription, [key], shown=key)

    def of(
        self,
        subscription: StoredSubscription,
        keys: Sequence[str],
        *,
        overlap_until: datetime | None = None,
        shown: str | None = None,
    ) -> KeyChange:
        """These keys, the newest first."""
        return KeyChange(self.prints(subscription, keys), overlap_until, self._keys.seal(subscription, keys), shown)

    def prints(self, subscription: StoredSubscription, keys: Sequence[str]) -> Sequence[str]:
        return [self._prints.of(subscription.type, subscription.user_name, key) for key in keys]

    def _kept(self, after: StoredSubscription, before: StoredSubscription, keys: Sequence[str]) -> KeyChange:
        return KeyChange(self.prints(after, keys), before.overlap_until)
