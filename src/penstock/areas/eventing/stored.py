"""How channels, subscriptions and definitions are stored."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from penstock.areas.eventing.model import (
    ChannelComponent,
    ChannelDto,
    ChannelEntity,
    CloudEventDefinitionEntity,
    EventChannelDtov2,
    EventSubscriptionDtov2,
    SubscriptionEntity,
)
from penstock.areas.eventing.pipeline import Pipeline
from penstock.connectors.kind import Part
from penstock.kernel.entity import Entity
from penstock.kernel.ids import derived_id
from penstock.kernel.names import name_key
from penstock.kernel.wire import Map
from penstock.store.definition import Collection, Column, ColumnType


class ChannelOptions(Part, frozen=True):
    """Options of a channel, its JsonConfiguration."""

    parallel: Annotated[
        int, Meta(ge=1, le=64, description="Deliveries at once. With more than one, the order is not kept.")
    ] = 1


class Channel(Entity):
    """A channel as stored. Secrets of components and endpoints are masked here and sealed beside it.

    variables: values for its configurations, which come before variables of the platform of the same name.
    disabled_since, disabled_reason: when and why it was no longer delivered.
    """

    name: str
    type: str | None = None
    app_id: str | None = None
    parameters: Map | None = None
    json_configuration: str | None = None
    components: list[ChannelComponent] = []
    endpoints: list[ChannelComponent] = []
    description: str | None = None
    variables: dict[str, str] | None = None
    disabled_since: datetime | None = None
    disabled_reason: str | None = None

    @property
    def enabled(self) -> bool:
        return self.disabled_since is None

    @property
    def pipeline(self) -> Pipeline:
        """Its parts, secrets masked."""
        return Pipeline(self.components, self.endpoints)

    @property
    def options(self) -> ChannelOptions:
        return msgspec.json.decode(self.json_configuration or "{}", type=ChannelOptions)

    def shown(self) -> ChannelEntity:
        """The channel as the API answers it."""
        return msgspec.convert(self, ChannelEntity, from_attributes=True)

    def brief(self) -> ChannelDto:
        return ChannelDto(channel_id=self.key, name=self.name, type=self.type)

    def described(self) -> EventChannelDtov2:
        return EventChannelDtov2(
            name=self.name,
            description=self.description,
            type=self.type,
            parameters=self.parameters,
            variables=self.variables,
            created_at=self.created_date,
        )


class Subscription(Entity):
    """A subscription as stored. name, description: of the configuration document that made it."""

    channel_id: UUID
    channel_name: str
    event_type: str
    spec_version: str
    source: str
    app_id: str | None = None
    name: str | None = None
    description: str | None = None

    @property
    def pattern(self) -> tuple[str, str, str]:
        """Source, type and version, each exact or `*`."""
        return self.source, self.event_type, self.spec_version

    def shown(self) -> SubscriptionEntity:
        """The subscription as the API answers it."""
        return msgspec.convert(self, SubscriptionEntity, from_attributes=True)

    def described(self) -> EventSubscriptionDtov2:
        return EventSubscriptionDtov2(
            name=self.name or str(self.key),
            description=self.description,
            source=self.source,
            channel=self.channel_name,
            created_at=self.created_date,
        )


def id_of_name(name: str) -> UUID:
    """The id of a channel that a configuration document makes, known to documents beside it before it exists."""
    return derived_id(_NO_TIME, "channel", name_key(name))


_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def digest(parts: Sequence[str]) -> str:
    """One short text for several; unique columns cannot hold long ones."""
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


CHANNELS: Collection[Channel] = Collection(
    "event_channels", Channel, (Column("name", lambda channel: channel.name, ColumnType.KEY, unique=True),)
)
SUBSCRIPTIONS: Collection[Subscription] = Collection(
    "event_subscriptions",
    Subscription,
    (
        Column("name", lambda s: s.name, ColumnType.KEY, unique=True),
        Column("channel", lambda s: str(s.channel_id)),
        Column("pattern", lambda s: digest([str(s.channel_id), *s.pattern]), unique=True),
    ),
)
DEFINITIONS: Collection[CloudEventDefinitionEntity] = Collection(
    "event_definitions",
    CloudEventDefinitionEntity,
    (
        Column(
            "event",
            lambda d: digest([d.type or "", d.source or "", d.spec_version or ""]),
            ColumnType.TEXT,
            unique=True,
        ),
    ),
)
