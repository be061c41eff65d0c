"""What is kept of file transfers."""

from datetime import datetime, timedelta
from uuid import UUID

from penstock.areas.transfers.model import MftScheduleExecuted, MftStorage, MftTick
from penstock.kernel.entity import NEVER, Entity
from penstock.kernel.wire import Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.transfer import Items, MftStats, TransferredFile
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.assignment_states import states_collection
from penstock.resource.coverage import Unmatched
from penstock.store.definition import Collection, Column, ColumnType, Journal

_KEEP = timedelta(days=90)


class Mft(Entity):
    """A file transfer as stored.

    version counts the changes of what runs. since: when this version or request was made. order: the latest order to
    run now. force: that order lifts the bound on what a sync may delete.
    """

    name: str
    command: str
    source: MftStorage
    destination: MftStorage
    project: str | None = None
    schedule: str | None = None
    requested_status: IntegrationStatusEnum2 = IntegrationStatusEnum2.STOPPED
    requirements: list[Requirement] = []
    variables: Map | None = None
    args: str | None = None
    filters: str | None = None
    labels: str | None = None
    category: str | None = None
    flow_name: str | None = None
    version: str = "1"
    since: datetime = NEVER
    order: UUID | None = None
    force: bool = False

    @property
    def is_started(self) -> bool:
        return self.requested_status is IntegrationStatusEnum2.STARTED


class RunEntry(Wire):
    """A run that has ended."""

    run: UUID
    agent_id: UUID
    mft: str
    started: datetime
    finished: datetime
    files: int
    version: str
    due: datetime | None = None
    error: str | None = None
    items: list[Items] = []
    stats: MftStats

    def shown(self) -> MftScheduleExecuted:
        return MftScheduleExecuted(
            id=self.run, start_time=self.started, mft_name=self.mft, items=self.items, stats=self.stats
        )


class FileEntry(Wire):
    """A file of a run."""

    agent_id: UUID
    mft: str
    flow_name: str | None = None
    file: TransferredFile


class TickEntry(Wire):
    """Due times of a transfer on an agent."""

    mft: str
    tick: MftTick


MFTS: Collection[Mft] = Collection("mfts", Mft, (Column("name", lambda mft: mft.name, ColumnType.KEY, unique=True),))
MFT_STATES = states_collection("mft_states")
UNMATCHED_MFTS: Collection[Unmatched] = Collection("unmatched_mfts", Unmatched)
MFT_RUNS: Journal[RunEntry] = Journal(
    "mft_runs",
    RunEntry,
    at=lambda entry: entry.started,
    # Agents choose the ids of their runs: one must not be able to suppress another's.
    key=lambda entry: f"{entry.agent_id}/{entry.run}",
    columns=(
        Column("mft", lambda entry: entry.mft, ColumnType.KEY),
        Column("run", lambda entry: str(entry.run)),
        Column("files", lambda entry: entry.files, ColumnType.INTEGER),
    ),
    keep=_KEEP,
)
MFT_FILES: Journal[FileEntry] = Journal(
    "mft_files",
    FileEntry,
    at=lambda entry: entry.file.at,
    key=lambda entry: f"{entry.agent_id}/{entry.file.run}/{entry.file.number}",
    columns=(Column("mft", lambda entry: entry.mft, ColumnType.KEY),),
    keep=_KEEP,
)
MFT_TICKS: Journal[TickEntry] = Journal(
    "mft_ticks",
    TickEntry,
    at=lambda entry: entry.tick.due,
    key=lambda entry: f"{entry.mft}/{entry.tick.agent_id}/{entry.tick.due.isoformat()}",
    columns=(Column("mft", lambda entry: entry.mft, ColumnType.KEY),),
    keep=_KEEP,
)
