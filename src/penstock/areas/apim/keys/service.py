"""What is done with the keys of subscriptions: read, renewed with an overlap, revoked."""

from collections.abc import Callable
from datetime import timedelta

from penstock.areas.apim.keys.change import KeyChange, KeyChanges
from penstock.areas.apim.keys.key import key_errors
from penstock.areas.apim.keys.model import KeyRenewal
from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.model import ApiSubscription
from penstock.areas.apim.register import Registers
from penstock.areas.apim.shown import shown_subscription
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, StoredSubscription
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.protocol.gateway import Access
from penstock.resource.audit import audit
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store

_LONGEST_OVERLAP = timedelta(days=90)


class KeyService:
    """Keys by their subscriptions' names. Each act is in the entity event store."""

    def __init__(
        self,
        store: Store,
        changes: Changes,
        clock: Clock,
        registers: Registers,
        keys: SealedKeys,
        planning: KeyChanges,
    ) -> None:
        self._subscriptions = Resource(
            API_SUBSCRIPTIONS, store, changes, clock, kind="subscription", audited=shown_subscription
        )
        self._store = store
        self._clock = clock
        self._registers = registers
        self._keys = keys
        self._planning = planning

    async def reveal(self, name: str, actor: Actor) -> str:
        """The newest key, after the audit log has it that somebody read it. Raises NotFound, SecretUnreadable."""
        subscription = await self._subscriptions.named(name)
        keys = await self._keys.of(subscription)
        if not keys:
            raise NotFound(f"the subscription '{subscription.name}' has no key")
        act = audit(
            "key-revealed",
            API_SUBSCRIPTIONS.name,
            subscription.key,
            actor=actor,
            at=self._clock.now(),
            subject=subscription.name,
        )
        await self._store.commit([act])
        return keys[0]

    async def renew(self, name: str, renewal: KeyRenewal, actor: Actor) -> ApiSubscription:
        """A new key, in clear; the one before holds on for the overlap. Raises NotFound, Invalid, NameTaken."""
        errors = key_errors(renewal.key) if renewal.key is not None else []
        if not timedelta() <= renewal.overlap <= _LONGEST_OVERLAP:
            errors.append(FieldError("Overlap", f"must be 0 to {_LONGEST_OVERLAP.days} days"))
        if errors:
            raise Invalid(errors)

        def renewed(subscription: StoredSubscription, keys: list[str]) -> KeyChange:
            if subscription.type is Access.OIDC:
                raise Invalid.one("", f"the subscription '{subscription.name}' is of type oidc, which has no key")
            new = self._planning.new(subscription).shown if renewal.key is None else renewal.key
            before = [key for key in keys[:1] if renewal.overlap and key != new]
            until = self._clock.now() + renewal.overlap if before else None
            return self._planning.of(subscription, [new or "", *before], overlap_until=until, shown=new)

        return await self._change(name, renewed, actor)

    async def end_overlap(self, name: str, actor: Actor) -> None:
        """The key before the newest stops now. Raises NotFound."""
        await self._change(name, lambda each, keys: self._planning.of(each, keys[:1]), actor)

    async def revoke(self, name: str, actor: Actor) -> None:
        """All keys stop; there is none until it is renewed. Raises NotFound."""
        await self._change(name, lambda each, keys: self._planning.of(each, []), actor)

    async def _change(
        self, name: str, change_of: Callable[[StoredSubscription, list[str]], KeyChange], actor: Actor
    ) -> ApiSubscription:
        async def attempt() -> ApiSubscription:
            before = await self._subscriptions.named(name)
            change = change_of(before, await self._keys.of(before))
            after, writes = self._subscriptions.plan_replace(
                change.applied(before), before, actor, sealed=change.sealed
            )
            if change.shown is not None:
                (await self._registers.current()).check(writes)
            await self._subscriptions.commit(writes, after)
            return shown_subscription(after, change.shown)

        return await last_wins(attempt)
