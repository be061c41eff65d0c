"""How event sources, triggers and catalogs are stored."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from penstock.areas.eventsources.model import EventingEventCatalogStatus
from penstock.connectors.packaged.message import DescribedKind
from penstock.connectors.registry import Family
from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.names import name_key
from penstock.kernel.wire import Map, Wire
from penstock.packages.environment import Package
from penstock.protocol.capability import Requirement
from penstock.protocol.event_source import EventSourceStatus
from penstock.resource.assignment_states import states_collection
from penstock.resource.coverage import Unmatched
from penstock.store.definition import Collection, Column, ColumnType, Journal

STREAM_PREFIX = "eventsource-"
"""Before an event source's name: the stream of its events."""
LONGEST_NAME = 128 - len(STREAM_PREFIX)


class Catalog(Entity):
    """A package with kinds, of components or of event sources.

    package_version: as asked for; installed_version: what that turned out to be.
    """

    family: Family
    package: str
    package_version: str | None = None
    installed_version: str | None = None
    status: EventingEventCatalogStatus = EventingEventCatalogStatus.NEW
    message: str | None = None
    problems: list[str] = []
    kinds: list[DescribedKind] = []

    @property
    def installed(self) -> Package:
        return Package(self.package, self.installed_version or self.package_version)


class SourceInstance(Entity):
    """An event source that agents run. Secrets are masked here and sealed beside it.

    references: variables in the configuration, secrets included. stamp: differs whenever agents must learn something
    new. tracking: the DatabaseChangeTracking that makes it.
    """

    name: str
    type: str
    version: str
    configuration: str = "{}"
    description: str | None = None
    frequency: Duration | None = None
    cron: str | None = None
    requirements: list[Requirement] = []
    variables: Map | None = None
    references: list[str] = []
    stamp: str = ""
    tracking: str | None = None


class SourceTracking(Entity):
    """A DatabaseChangeTracking; the instance that it makes has its parameters."""

    name: str
    description: str | None = None
    type: str
    variables: Map | None = None
    instance: UUID


class StoredTrigger(Entity):
    """A trigger. Secrets are masked here and sealed beside it.

    polling: it is due again and again; otherwise it listens. references: variables in the configuration, secrets
    included. stamp: differs whenever it is another one to run.
    """

    type: str
    version: str
    configuration: str = "{}"
    frequency: Duration | None = None
    cron: str | None = None
    channel: str | None = None
    polling: bool = True
    references: list[str] = []
    stamp: str = ""

    @property
    def name(self) -> str:
        """What it is called in events and logs."""
        return f"trigger-{self.key}"


class Claim(Wire):
    """Who runs a trigger: the due message that it was found due by. A message that comes again is the same one."""

    message: int
    at: datetime


class TriggerRun(Entity):
    """What of a trigger changes while it runs, under the trigger's id.

    position: see connectors.source. next_due: when its next due message comes; None for one that listens.
    done: the last due message that was seen to.
    """

    stamp: str
    status: EventSourceStatus
    position: Any = None
    next_due: datetime | None = None
    claim: Claim | None = None
    done: int = 0


class TakenEvent(Wire):
    """An event of a source that was published. id: the event's key."""

    id: str
    at: datetime


CATALOGS: Collection[Catalog] = Collection(
    "eventing_catalogs",
    Catalog,
    (
        Column(
            "name",
            lambda catalog: f"{catalog.family}:{name_key(catalog.package)}:{catalog.package_version or ''}",
            ColumnType.KEY,
            unique=True,
        ),
        Column("family", lambda catalog: catalog.family),
    ),
)
INSTANCES: Collection[SourceInstance] = Collection(
    "event_source_instances",
    SourceInstance,
    (Column("name", lambda instance: instance.name, ColumnType.KEY, unique=True),),
)
TRACKINGS: Collection[SourceTracking] = Collection(
    "database_change_trackings",
    SourceTracking,
    (Column("name", lambda tracking: tracking.name, ColumnType.KEY, unique=True),),
)
TRIGGERS: Collection[StoredTrigger] = Collection("eventing_triggers", StoredTrigger)
TRIGGER_RUNS: Collection[TriggerRun] = Collection("eventing_trigger_runs", TriggerRun)
SOURCE_STATES = states_collection("event_source_agent_states")
UNMATCHED_SOURCES: Collection[Unmatched] = Collection("unmatched_event_sources", Unmatched)
TAKEN_EVENTS: Journal[TakenEvent] = Journal(
    "source_events",
    TakenEvent,
    at=lambda event: event.at,
    key=lambda event: event.id,
    columns=(Column("event", lambda event: event.id),),
    keep=timedelta(days=7),
)
