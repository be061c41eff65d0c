"""Channels, subscriptions, event definitions and the history of events (specification 1, "Eventing resources")."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Map, Wire

Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]


class ChannelDto(Wire):
    """A channel in short."""

    channel_id: UUID
    name: str
    type: str | None = None


class ChannelComponent(Wire):
    """A component or endpoint of a channel.

    JsonConfiguration: a JSON object as the kind's schema describes it, secrets masked. Position: the order in which
    components are applied, and endpoints served. ComponentTypeIdentifier: the kind that Type and Version mean.
    """

    type: str | None = None
    version: str | None = None
    json_configuration: str | None = None
    position: Int32 = 0
    component_type_identifier: str | None = None


class ChannelEntity(Entity):
    """A channel: components that events pass in their order, then endpoints, all of which get what is left.

    JsonConfiguration: options of the channel as a JSON object, see ChannelOptions.
    """

    name: str | None = None
    type: str | None = None
    app_id: str | None = None
    parameters: Map | None = None
    json_configuration: str | None = None
    components: list[ChannelComponent] | None = None
    endpoints: list[ChannelComponent] | None = None


class ComponentDto(Wire):
    """A component or endpoint to be made. Configuration: a JSON object as the kind's schema describes it."""

    type: str
    version: str
    configuration: str | None = None
    position: Int32 = 0


class NewChannelDto(Wire):
    """A channel to be made.

    Type: a word of your own, or an endpoint kind; without Endpoints the channel then has one endpoint of that kind,
    and Configuration is its configuration. Else Configuration is a JSON object with options of the channel.
    """

    name: str
    type: str | None = None
    configuration: str | None = None
    components: list[ComponentDto] | None = None
    endpoints: list[ComponentDto] | None = None
    app_id: str | None = None


class HttpChannelDto(Wire):
    """A channel with one HTTP endpoint. ChannelId: the id that it gets; all zeros leaves it to the server."""

    channel_id: UUID
    name: str
    type: str | None = None
    endpoint: str
    basic_auth_username: str | None = None
    basic_auth_password: str | None = None


class CloudServiceBusDto(Wire):
    """A channel with one endpoint, a queue behind AMQP 1.0. ChannelId: as for an HTTP channel."""

    channel_id: UUID
    name: str
    type: str | None = None
    queuename: str | None = None
    connection_string: str | None = None


class SubscriptionDto(Wire):
    """Binds a channel to events. Source, EventType, SpecVersion: exact, or `*` for any, as when omitted."""

    channel_name: str
    source: str | None = None
    event_type: str | None = None
    spec_version: str | None = None


class SubscriptionEntity(Entity):
    """A subscription as stored. Source, EventType, SpecVersion: exact, or `*` for any."""

    channel_id: UUID
    channel_name: str | None = None
    event_type: str | None = None
    app_id: str | None = None
    spec_version: str | None = None
    source: str | None = None


class ChannelSubsriptionsDto(Wire):
    """A channel with its subscriptions, each as type, source and version, `*` for any, with blanks between them."""

    channel_id: UUID
    channel_name: str | None = None
    subscriptions: list[str] | None = None


class CloudEventDefinition(Wire):
    """A kind of event, known by Type, Source and SpecVersion (default `1.0`).

    DataSchema: a JSON Schema that the data of published events must meet. DataContentType: default `application/json`.
    """

    type: str | None = None
    source: str | None = None
    spec_version: str | None = None
    data_content_type: str | None = None
    data_schema_uri: Uri | None = None
    data_schema: str | None = None
    tags: list[str] | None = None


class CloudEventDefinitionEntity(Entity):
    """A definition as stored: nested, and the same fields flat."""

    definition: CloudEventDefinition | None = None
    type: str | None = None
    source: str | None = None
    spec_version: str | None = None
    data_content_type: str | None = None
    data_schema_uri: Uri | None = None
    data_schema: str | None = None
    tags: list[str] | None = None


class EventOverviewDto(Wire):
    """An event that was handled. UtcDateTime: when it was accepted. Id: as the event's source gave it."""

    utc_date_time: datetime
    event_type: str | None = None
    source: str | None = None
    id: str | None = None


class EventDetailsDto(EventOverviewDto):
    """Version: the event's specversion. Json: the whole event. TargetChannels: the channels that it was given to."""

    version: str | None = None
    json: str | None = None
    target_channels: list[str] | None = None


class EventChannelDtov2(Wire):
    """A channel as its configuration document describes it."""

    name: str | None = None
    description: str | None = None
    type: str | None = None
    parameters: Map | None = None
    variables: Map | None = None
    requirements: Map | None = None
    created_at: datetime


class EventSubscriptionDtov2(Wire):
    """A subscription. Name: its own, or its id when it was not made by a configuration document."""

    name: str | None = None
    description: str | None = None
    source: str | None = None
    channel: str | None = None
    created_at: datetime
