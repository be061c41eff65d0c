"""Event sources: what agents are to run, how it stands, and what they report of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Map, Wire


class EventSourceStatusEnum(StrEnum):
    """Where an event source stands where it runs."""

    NEW = "New"
    INITIALIZING = "Initializing"
    INITIALIZED = "Initialized"
    INITIALIZING_FAILED = "InitializingFailed"
    STARTING = "Starting"
    STARTED = "Started"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    REMOVED = "Removed"
    FAILED = "Failed"


class StatusLogOfEventSourceStatusEnum(Wire):
    """One move of an event source from status to status. Message: why, for those that tell of a failure."""

    previous_status: EventSourceStatusEnum
    new_status: EventSourceStatusEnum
    log_time: datetime
    message: str | None = None


class EventSourceStatus(Wire):
    """How an event source stands, and its latest moves, the oldest first."""

    status: EventSourceStatusEnum
    previous_status: EventSourceStatusEnum
    last_status_update: datetime
    messages: list[StatusLogOfEventSourceStatusEnum] | None = None


class SourcePackage(Wire):
    """The package that brings a kind of event source. The kind runs in an environment of its own."""

    name: str
    version: str


class SourceItem(Wire):
    """An event source as an agent is to run it.

    stamp changes whenever the agent must learn something new.
    configuration: JSON object whose `{{var:NAME}}` the agent replaces, by `variables` first.
    frequency, cron: when it is polled; cron counts when both are given.
    has_secrets: the configuration holds some that are not variables; the agent keeps them in memory alone.
    package, schema: of a kind that is not built in, and the JSON Schema of its configuration.
    """

    id: UUID
    name: str
    stamp: str
    type: str
    version: str
    configuration: str
    requires_polling: bool
    stateful: bool = False
    shared: bool
    has_secrets: bool = False
    frequency: Duration | None = None
    cron: str | None = None
    variables: Map | None = None
    package: SourcePackage | None = None
    schema: str | None = None


class SourceQuery(Wire):
    """Asks for all event sources of this agent, in the order of their ids after `after`.

    stamps: of those that the agent has; it needs no items for them.
    """

    after: UUID | None = None
    stamps: dict[str, str] = {}


class SourceAnswer(Wire):
    """One page. unchanged: those whose stamps the agent has. next: what to pass as `after`; None on the last one."""

    items: list[SourceItem]
    unchanged: list[UUID] = []
    next: UUID | None = None


class SourceEvent(Wire):
    """An event that a source found. source_id: the event source instance. event: a CloudEvent in its JSON format."""

    source_id: UUID
    event: msgspec.Raw


class SourceState(Wire):
    """How an event source stands on the reporting agent. removed: the agent no longer has it."""

    source_id: UUID
    status: EventSourceStatus
    removed: bool = False


class EventReport(Wire):
    """Body of `agent.<id>.report.events`."""

    events: list[SourceEvent]
    states: list[SourceState]
