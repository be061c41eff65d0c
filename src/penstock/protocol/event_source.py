"""Event sources: what agents are to run, how it stands, and what they report of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Map, Wire
from penstock.protocol.assignment import AssignmentState


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
    """An event source as an agent is to run it: the body of its assignment.

    configuration: JSON object whose `{{var:NAME}}` the agent replaces, by `variables` first.
    frequency, cron: when it is polled; cron counts when both are given.
    package, schema: of a kind that is not built in, and the JSON Schema of its configuration.
    """

    name: str
    type: str
    version: str
    configuration: str
    requires_polling: bool
    stateful: bool = False
    shared: bool
    frequency: Duration | None = None
    cron: str | None = None
    variables: Map | None = None
    package: SourcePackage | None = None
    schema: str | None = None


class SourceEvent(Wire):
    """An event that a source found. source_id: the event source instance. event: a CloudEvent in its JSON format."""

    source_id: UUID
    event: msgspec.Raw


class EventReport(Wire):
    """Body of `agent.<id>.report.events`. states: of event sources, each an EventSourceStatus."""

    events: list[SourceEvent]
    states: list[AssignmentState]
