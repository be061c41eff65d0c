"""What is done with subscriptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self
from uuid import UUID

from penstock.areas.eventing.model import ChannelSubsriptionsDto
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import CHANNELS, SUBSCRIPTIONS, Channel, Subscription, digest
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound
from penstock.protocol.cloudevent import text_problem
from penstock.resource.changes import Changes
from penstock.resource.event_patterns import ANY, Pattern
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Require, Write


@dataclass(frozen=True)
class WantedSubscription:
    """source, event_type, spec_version: exact; None or `*` is any. name: of a configuration document."""

    source: str | None = None
    event_type: str | None = None
    spec_version: str | None = None
    name: str | None = None
    description: str | None = None

    @property
    def pattern(self) -> Pattern:
        return self.source or ANY, self.event_type or ANY, self.spec_version or ANY


class Target(NamedTuple):
    """The channel that a subscription is for."""

    id: UUID
    name: str
    app_id: str | None

    @classmethod
    def of(cls, channel: Channel) -> Self:
        return cls(channel.key, channel.name, channel.app_id)


class SubscriptionService:
    """A channel has each combination of source, type and version at most once."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, table: RoutingTable) -> None:
        self._store = store
        self.resource = Resource(SUBSCRIPTIONS, store, changes, clock, kind="subscription", label="channel_name")
        self._channels = Resource(CHANNELS, store, changes, clock, kind="channel")
        self._changes = changes
        self._table = table

    async def by_channel(self) -> list[ChannelSubsriptionsDto]:
        """Every channel with its subscriptions, newest first."""
        texts: dict[UUID, list[str]] = {}
        for each in await self.resource.decoded():
            text = f"{each.event_type} {each.source} {each.spec_version}"
            texts.setdefault(each.channel_id, []).append(text)
        return [
            ChannelSubsriptionsDto(
                channel_id=channel.key, channel_name=channel.name, subscriptions=texts.get(channel.key, [])
            )
            for channel in await self._channels.decoded()
        ]

    async def create(self, channel: Channel, wanted: WantedSubscription, actor: Actor) -> Subscription:
        """Raises Invalid, NameTaken when the channel has it already, NotFound when the channel is removed."""
        subscription, writes = self.plan(Target.of(channel), wanted, None, actor)
        try:
            await self._store.commit([Require(CHANNELS, channel.key), *writes])
        except NameTaken:
            raise NameTaken("the channel has this subscription already") from None
        await self.announce(subscription)
        return subscription

    def plan(
        self, target: Target, wanted: WantedSubscription, before: Subscription | None, actor: Actor
    ) -> tuple[Subscription, Sequence[Write]]:
        """The subscription as it will be, and the writes that make it so; none when nothing differs.

        The channel must exist once they are committed. Raises Invalid, fields named as in SubscriptionDto.
        """
        _check(wanted)
        subscription = _described(wanted, target)
        if before is None:
            return self.resource.plan_create(subscription, actor)
        if all(getattr(subscription, field) == getattr(before, field) for field in _DESCRIBED):
            return before, ()
        return self.resource.plan_replace(subscription, before, actor)

    async def named(self, name: str) -> Subscription:
        """The subscription of this name or id. Raises NotFound."""
        found = await self.resource.find("name", name)
        if found is not None:
            return found
        try:
            return await self.resource.get(UUID(name))
        except ValueError:
            raise NotFound.of("subscription", name) from None

    async def find(self, channel: Channel, wanted: WantedSubscription) -> Subscription:
        """The channel's subscription to this. Raises NotFound."""
        found = await self.resource.find("pattern", digest([str(channel.key), *wanted.pattern]))
        if found is None:
            raise NotFound(f"the channel '{channel.name}' has no such subscription")
        return found

    async def delete(self, subscription: Subscription, actor: Actor, if_match: str | None = None) -> None:
        """Raises NotFound, Stale."""
        await self.resource.delete(subscription, actor, if_match)
        self._table.invalidate(SUBSCRIPTIONS.name)

    async def announce(self, subscription: Subscription) -> None:
        """Tells of a change, once it is committed."""
        self._table.invalidate(SUBSCRIPTIONS.name)
        await self._changes.tell(SUBSCRIPTIONS.name, subscription.channel_name)


_DESCRIBED = ("channel_id", "channel_name", "pattern", "name", "description")


def _described(wanted: WantedSubscription, target: Target) -> Subscription:
    source, event_type, spec_version = wanted.pattern
    return Subscription(
        channel_id=target.id,
        channel_name=target.name,
        source=source,
        event_type=event_type,
        spec_version=spec_version,
        app_id=target.app_id,
        name=wanted.name,
        description=wanted.description,
    )


def _check(wanted: WantedSubscription) -> None:
    texts = {"Source": wanted.source, "EventType": wanted.event_type, "SpecVersion": wanted.spec_version}
    problems = {field: text_problem(text) if text else "" for field, text in texts.items()}
    errors = [FieldError(field, problem) for field, problem in problems.items() if problem]
    if errors:
        raise Invalid(errors)
