"""What the server answers, as far as the client reads it. Fields that a newer server adds are passed over."""

from datetime import datetime
from typing import Any, dataclass_transform
from uuid import UUID

import msgspec

from penstock.kernel.wire import Map, WireMeta, wire_name


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Answered(msgspec.Struct, metaclass=WireMeta, rename=wire_name):
    """Base of types that are only read."""


class LoginResult(Answered):
    """The tokens of a signed-in user."""

    token: str
    refresh_token: str

    def __repr__(self) -> str:
        return "LoginResult(...)"


class Invitation(Answered):
    """What registers one agent. token: single-use, shown only here; server_baseaddress: where the agent registers."""

    id: UUID
    server_baseaddress: str
    token: str

    def __repr__(self) -> str:
        return f"Invitation(id={self.id})"


class PlannedChange(Answered):
    """What applying one document would do. action: create, change, remove or keep."""

    document: int
    kind: str
    name: str
    action: str
    before: Any = None
    after: Any = None


class StreamMessage(Answered):
    """A message of a stream. data: as published, decoded from base64."""

    subject: str | None = None
    data: bytes = b""
    timestamp: datetime
    sequence: int
    headers: Map | None = None


class LogMessage(Answered):
    """A line that a flow logged."""

    id: UUID
    time_stamp: datetime
    log_level: str | None = None
    message: str | None = None
    exception_message: str | None = None
    exception_type: str | None = None
    stack_trace: str | None = None


class PublishedEvents(Answered):
    """The ids of the events that were published, in their order."""

    ids: list[str]


class DeadLetterCount(Answered):
    """How many dead letters were dealt with; complete: whether that was all of the range."""

    count: int
    complete: bool


class DeliveryState(Answered):
    """How the delivery of a channel goes. waiting: events not yet begun; in_hand: those being tried."""

    waiting: int
    in_hand: int


class ReplayResult(Answered):
    """Of a replay of history: how many events, the last one looked at, and whether that was all of the range."""

    replayed: int
    last_sequence: int
    complete: bool


class ReindexProgress(Answered):
    """How far a reindex of the history has come: done of total events; skipped could not be read."""

    done: int
    total: int
    skipped: int = 0
    finished: bool = False


class ScheduleEvent(Answered):
    """What a schedule's stream tells: RunStarted, RunFinished, TicksSkipped or TicksMissed in `event`.

    output: the end of what the command wrote. exit_code: None when it never started or was killed; error then says
    why. due, last_due, count: due times in a row that did not fire, for `reason`.
    """

    event: str = ""
    started: datetime | None = None
    finished: datetime | None = None
    command: str | None = None
    duration: str | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str | None = None
    due: datetime | None = None
    last_due: datetime | None = None
    count: int = 0
    reason: str | None = None
