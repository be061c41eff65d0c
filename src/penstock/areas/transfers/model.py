"""File transfers (specification 1, "MFT resources")."""

from datetime import datetime
from enum import IntEnum
from uuid import UUID

from penstock.kernel.wire import Int32, Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.core_system import CoreSystem, CoreSystem2
from penstock.protocol.transfer import Items, MftStats, MftStatus
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.page import PageSize, Skip


class IntegrationStatusEnum(IntEnum):
    """What an operator asked of a file transfer."""

    STOPPED = 0
    STARTED = 1
    UNKNOWN = 2


class Requirement2(Requirement):
    """One thing that a file transfer needs of an agent."""


class MftStorage(Wire):
    """A core system of category `storage`, and a folder in it."""

    name: str | None = None
    path: str | None = None


class MftStorage2(MftStorage):
    """The same, in requests."""


class MftStorageDetails(Wire):
    """A storage with the core system itself, secrets masked."""

    system: CoreSystem | None = None
    path: str | None = None


class MftStorageDetails2(Wire):
    """The same, in lists."""

    system: CoreSystem2 | None = None
    path: str | None = None


class MftIntegration2(Wire):
    """A file transfer as it is saved.

    Command: copy, sync or move. Schedule: six cron fields in each agent's time zone, or nothing: by hand alone.
    Filters: one glob per line. Args: further options, as with rclone. Variables: replace `{{var:NAME}}` in the
    storages before those of the platform do. FlowName: what the list of transferred files calls it.
    """

    name: str | None = None
    project: str | None = None
    command: str | None = None
    schedule: str | None = None
    source: MftStorage2 | None = None
    destination: MftStorage2 | None = None
    requested_status: IntegrationStatusEnum2 = IntegrationStatusEnum2.UNKNOWN
    requirements: list[Requirement] | None = None
    variables: Map | None = None
    additional_packages: str | None = None
    args: str | None = None
    filters: str | None = None
    version: str | None = None
    labels: str | None = None
    flow_name: str | None = None


class MftIntegration(Wire):
    """A file transfer. Version counts its changes."""

    name: str | None = None
    project: str | None = None
    command: str | None = None
    schedule: str | None = None
    source: MftStorage | None = None
    destination: MftStorage | None = None
    requested_status: IntegrationStatusEnum
    requirements: list[Requirement2] | None = None
    variables: Map | None = None
    additional_packages: str | None = None
    args: str | None = None
    filters: str | None = None
    version: str | None = None
    labels: str | None = None


class MftIntegrationDetails(Wire):
    """A file transfer with its core systems, secrets masked."""

    name: str | None = None
    project: str | None = None
    command: str | None = None
    schedule: str | None = None
    source: MftStorageDetails | None = None
    destination: MftStorageDetails | None = None
    requested_status: IntegrationStatusEnum
    requirements: list[Requirement2] | None = None
    variables: Map | None = None
    additional_packages: str | None = None
    args: str | None = None
    filters: str | None = None
    version: str | None = None
    labels: str | None = None


class MftDto(Wire):
    """A file transfer in the list of all, with how it stands on the agents that it matches."""

    name: str | None = None
    project: str | None = None
    status: str | None = None
    requested_status: IntegrationStatusEnum2
    running_count: Int32
    error_count: Int32
    stopped_count: Int32
    unknown_count: Int32
    category: str | None = None
    version: str | None = None
    command: str | None = None
    schedule: str | None = None
    labels: list[str] | None = None
    source: MftStorageDetails2 | None = None
    destination: MftStorageDetails2 | None = None


class AgentMftStatus(Wire):
    """How a file transfer stands on one agent."""

    agent_id: UUID
    mft_name: str | None = None
    status: MftStatus
    update_time: datetime


class MftScheduleExecuted(Wire):
    """One run. Items: its log; the last one of a failed run says why. Stats: what was counted, so far or in all."""

    id: UUID
    start_time: datetime
    mft_name: str | None = None
    items: list[Items] | None = None
    stats: MftStats | None = None


class MftFileTransferEntry(Wire):
    """A file that was transferred. Operation: copy, sync, move or delete."""

    name: str | None = None
    flow_name: str | None = None
    time: datetime
    file_name: str | None = None
    operation: str | None = None
    from_name: str | None = None
    from_path: str | None = None
    from_protocol: str | None = None
    to_name: str | None = None
    to_path: str | None = None
    to_protocol: str | None = None


class TransferFilter(Wire):
    """Which runs or files, newest first. FromDate <= time < ToDate.

    Count and Limit: at most so many, the smaller counts; 100 unless given. OnlyWhereFilesTransferred leaves out runs
    without any file.
    """

    from_date: datetime | None = None
    to_date: datetime | None = None
    mft_name: str | None = None
    count: PageSize | None = None
    skip: Skip = 0
    limit: PageSize | None = None
    only_where_files_transferred: bool = False


class MftProgress(Wire):
    """How a file transfer stands on one agent, and the run under way, if there is one.

    Percent: of the bytes known so far. Order: the latest order to run that the agent has followed. Message: why the
    last run failed. Reported: when the agent told it; null when it never did.
    """

    agent_id: UUID
    agent: str
    online: bool
    status: MftStatus
    message: str | None = None
    run: UUID | None = None
    order: UUID | None = None
    started: datetime | None = None
    percent: float | None = None
    stats: MftStats | None = None
    reported: datetime | None = None


class MftTick(Wire):
    """Due times in a row of which one thing became on one agent. Outcome: fired, skipped or missed."""

    agent_id: UUID
    due: datetime
    last_due: datetime
    count: Int32
    outcome: str
    reason: str | None = None
    version: str


class MftRun(Wire):
    """What `run` has ordered. Order: the progress of each agent tells when it has followed it."""

    order: UUID
