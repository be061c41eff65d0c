"""Managed file transfers (MFT): files moved between storages by agents, on a schedule or by hand, and their history."""

from penstock.areas.transfers.assignments import TransferAssignments, TransferCoverage
from penstock.areas.transfers.history import TransferHistory
from penstock.areas.transfers.http import TransferOperations
from penstock.areas.transfers.kinds.mft_integration import MftIntegrationKind
from penstock.areas.transfers.overview import TransferOverview
from penstock.areas.transfers.progress_stream import ProgressStream
from penstock.areas.transfers.service import TransferService
from penstock.areas.transfers.states import TransferStates
from penstock.areas.transfers.storage_types import TransferStorageTypes
from penstock.areas.transfers.stored import MFT_FILES, MFT_RUNS, MFT_STATES, MFT_TICKS, MFTS, UNMATCHED_MFTS
from penstock.areas.transfers.taken import TransferReports
from penstock.areas.transfers.worker import TransferAgents, TransferReportTaker
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.assignment_worker import AssignmentLinks
from penstock.resource.assignments import AssignmentParts
from penstock.resource.matching import Matching
from penstock.resource.ports.storage_types import StorageTypes
from penstock.resource.reports import AgentReports

AREA = Area(
    "transfers",
    collections=(MFTS, MFT_STATES, UNMATCHED_MFTS),
    journals=(MFT_FILES, MFT_RUNS, MFT_TICKS),
    services=(
        AgentQuestions,
        AgentReports,
        AssignmentLinks,
        AssignmentParts,
        Matching,
        ProgressStream,
        TransferAssignments,
        TransferCoverage,
        TransferHistory,
        TransferOverview,
        TransferReports,
        TransferService,
        TransferStates,
        TransferStorageTypes,
    ),
    handlers=(TransferOperations,),
    workers=(TransferAgents, TransferReportTaker),
    kinds=(MftIntegrationKind,),
    provides=((StorageTypes, TransferStorageTypes),),
)
