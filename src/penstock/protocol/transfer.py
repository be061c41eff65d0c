"""File transfers: what agents are to run, and what they report of it (specification 1, "MFT resources")."""

from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

import msgspec

from penstock.kernel.wire import Int64, Map, Wire
from penstock.protocol.assignment import AssignmentState
from penstock.protocol.report import TickReport
from penstock.protocol.work import IntegrationStatusEnum2


class MftStatus(IntEnum):
    """How a transfer stands on an agent."""

    RUNNING = 0
    ERROR = 1
    STOPPED = 2
    UNKNOWN = 3


class MftStats(Wire):
    """What was counted. Sizes in bytes, times in seconds, Speed in bytes a second; Eta null while it is not known."""

    bytes: Int64 = 0
    checks: Int64 = 0
    deleted_dirs: Int64 = 0
    deletes: Int64 = 0
    elapsed_time: float = 0.0
    errors: Int64 = 0
    eta: Any | None = None
    fatal_error: bool = False
    renames: Int64 = 0
    retry_error: bool = False
    speed: float = 0.0
    total_bytes: Int64 = 0
    total_checks: Int64 = 0
    total_transfers: Int64 = 0
    transfer_time: float = 0.0
    transfers: Int64 = 0


class Items(Wire):
    """One line of a run's log. Object: the file that it is about, if it is about one."""

    level: str | None = None
    msg: str | None = None
    source: str | None = None
    time: str | None = None
    object: str | None = None
    object_type: str | None = None
    stats: MftStats | None = None


class TransferSide(Wire):
    """Where files come from or go to. name, type, variables: of the core system; variables may name `{{var:NAME}}`."""

    name: str
    type: str
    variables: Map
    path: str


class TransferItem(Wire):
    """A file transfer as an agent is to run it.

    schedule: cron of its due times; None when it runs by hand alone. since: when this version or request was made.
    run: the latest order to run it now, whoever has not followed it yet does. force: that order lifts the bound on
    what a sync may delete. args, filters: as the transfer has them. variables: come before those of the platform.
    """

    name: str
    version: str
    requested: IntegrationStatusEnum2
    since: datetime
    command: str
    source: TransferSide
    destination: TransferSide
    schedule: str | None = None
    run: UUID | None = None
    force: bool = False
    args: str = ""
    filters: str = ""
    variables: Map | None = None


class TransferStatus(Wire):
    """How a transfer stands on an agent. run, stats: of the run under way. message: why the last one failed.

    order: the latest order to run that the agent has followed.
    """

    status: MftStatus
    message: str | None = None
    run: UUID | None = None
    order: UUID | None = None
    started: datetime | None = None
    stats: MftStats | None = None


class TransferRun(Wire):
    """A run, when it has begun and when it has ended. due: the tick that it is for.

    items: its log, shortened when it is very long. error: why it failed, None when it did not. files: how many were
    transferred.
    """

    id: UUID
    key: UUID
    version: str
    started: datetime
    due: datetime | None = None
    finished: datetime | None = None
    error: str | None = None
    files: int = 0
    items: list[Items] = []
    stats: MftStats = msgspec.field(default_factory=MftStats)


class TransferredFile(Wire):
    """A file that has reached the destination, or was deleted there. number: counts the files of a run."""

    run: UUID
    key: UUID
    number: int
    at: datetime
    operation: str
    name: str
    size: Int64 | None = None
    source: str
    source_path: str
    source_type: str
    destination: str
    destination_path: str
    destination_type: str


class TransferTick(Wire):
    """Due times of a transfer; see TickReport, whose `flow` is the transfer's name."""

    key: UUID
    tick: TickReport


class TransferReport(Wire):
    """Body of `agent.<id>.report.transfers`, in the order in which things happened."""

    states: list[AssignmentState] = []
    ticks: list[TransferTick] = []
    runs: list[TransferRun] = []
    files: list[TransferredFile] = []
