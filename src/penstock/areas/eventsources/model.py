"""Event sources, triggers and catalogs as the API shows them (specification 1, "Eventing resources")."""

from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.event_source import EventSourceStatus


class EventingComponentCatalogStatus(IntEnum):
    """How a catalog stands: 0 is being installed, 1 ready, 2 could not be installed."""

    NEW = 0
    READY = 1
    FAILED = 2


class EventingEventCatalogStatus(IntEnum):
    """How a catalog stands: 0 is being installed, 1 ready, 2 could not be installed."""

    NEW = 0
    READY = 1
    FAILED = 2


class EventingComponent(Wire):
    """A kind of component or endpoint. Name: what channels call it. ProductVersion: of the package that brings it.

    Identifier: family, name and version, such as `component:filter@1.0.0`.
    """

    component_catalog_id: UUID
    catalog_name: str | None = None
    catalog_version: str | None = None
    name: str | None = None
    version: str | None = None
    configuration_schema: str | None = None
    description: str | None = None
    product_version: str | None = None
    identifier: str | None = None


class EventingComponentCatalog(Entity):
    """A package with kinds of components. CatalogName, CatalogVersion: of the package."""

    catalog_name: str | None = None
    catalog_version: str | None = None
    components: list[EventingComponent] | None = None
    status: EventingComponentCatalogStatus = EventingComponentCatalogStatus.NEW


class EventingEventSource(Wire):
    """A kind of event source. Name: the EventSourceType of its instances. RequiresPolling: it is asked by a frequency
    or cron expression, instead of listening. Identifier: family, name and version, such as `source:timer@1.0.0`.
    """

    event_source_catalog_id: UUID
    catalog_name: str | None = None
    catalog_version: str | None = None
    name: str | None = None
    version: str | None = None
    configuration_schema: str | None = None
    description: str | None = None
    product_version: str | None = None
    requires_polling: bool = False
    identifier: str | None = None


class EventingEventSourceCatalog(Entity):
    """A package with kinds of event sources. CatalogName, CatalogVersion: of the package."""

    catalog_name: str | None = None
    catalog_version: str | None = None
    event_sources: list[EventingEventSource] | None = None
    status: EventingEventCatalogStatus = EventingEventCatalogStatus.NEW


class CatalogInstallation(Wire):
    """How the installation of a catalog's package went.

    Message: why it failed. Problems: parts of the package that cannot be used. Updated: when this was noted.
    """

    status: EventingEventCatalogStatus
    message: str | None = None
    problems: list[str]
    updated: datetime


class EventingEventSourceInstance(Entity):
    """An event source that agents run.

    JsonConfiguration: a JSON object as the kind's schema describes it, secrets masked. CronExpression counts when
    PollingFrequency is given, too; with neither it is polled every 30 seconds. Requirements: of the agents.
    """

    name: str | None = None
    event_source_type: str | None = None
    event_source_version: str | None = None
    json_configuration: str | None = None
    description: str | None = None
    polling_frequency: Duration | None = None
    cron_expression: str | None = None
    requirements: list[Requirement] | None = None


class EventSourceInstanceStatus(Wire):
    """How an instance stands on one agent. Online: whether the agent is heard now."""

    agent_id: UUID
    agent_name: str
    online: bool
    status: EventSourceStatus


class EventSourceDtov2(Wire):
    """An event source as its configuration document describes it."""

    name: str | None = None
    description: str | None = None
    type: str | None = None
    parameters: Map | None = None
    variables: Map | None = None
    requirements: Map | None = None
    created_at: datetime


class DatabaseChangeTrackingDto(Wire):
    """A configuration that tracks the changes of a table. Type: `growing` or `version`, see its Parameters."""

    name: str | None = None
    description: str | None = None
    type: str | None = None
    parameters: Map | None = None
    variables: Map | None = None
    created_at: datetime


class Version(Wire):
    """A version of two to four numbers; -1 stands for one that is not there."""

    major: Int32 = 0
    minor: Int32 = 0
    build: Int32 = -1
    revision: Int32 = -1
    major_revision: int = -1
    minor_revision: int = -1
    default_format_field_count: Int32 = 2

    @classmethod
    def of(cls, text: str) -> "Version":
        """From `1.2.3`; a part that is no number counts as 0."""
        parts = [int(part) if part.isascii() and part.isdigit() else 0 for part in text.split(".")[:4]]
        major, minor, build, revision = [*parts, *([0] * (2 - len(parts))), -1, -1][:4]
        count = max(2, len(parts))
        return cls(major=major, minor=minor, build=build, revision=revision, default_format_field_count=count)


class TriggerTypeConfiguration(Wire):
    """How triggers of a type are configured."""

    requires_polling: bool = False
    configuration_schema: str | None = None


class TriggerType(Wire):
    """A kind of event source that can be a trigger."""

    name: str | None = None
    version: Version | None = None
    description: str | None = None
    configuration: TriggerTypeConfiguration | None = None


class Trigger(Wire):
    """A trigger to be made, or to be replaced when there is one of this Id.

    Configuration: a JSON object as the type's schema describes it. CronExpression counts when Frequency is given, too;
    with neither it is 30 seconds. TargetChannel: where its events go; without one, to whoever subscribes to them.
    """

    id: str | None = None
    type_name: str | None = None
    frequency: Duration | None = None
    cron_expression: str | None = None
    configuration: str | None = None
    target_channel: str | None = None


class TriggerInstance(Wire):
    """A trigger. Configuration: an object, secrets masked."""

    id: str | None = None
    type: str | None = None
    configuration: Any | None = None
    status: EventSourceStatus | None = None
    cron_expression: str | None = None
    frequency: Duration | None = None


class EventingEventSourceCatalogAgent(Wire):
    """A catalog as agents see it."""

    id: UUID
    catalog_name: str | None = None
    catalog_version: str | None = None


class EventingEventSourceInstanceAgent(Wire):
    """An event source as the agent that runs it sees it. EventSourceId: identifier of its kind."""

    event_source_instance_id: UUID
    event_source_id: str | None = None
    name: str | None = None
    event_source_type: str | None = None
    event_source_version: str | None = None
    configuration: str | None = None
    polling_frequency: Duration | None = None
    cron_expression: str | None = None
