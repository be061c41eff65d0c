"""Schedules: commands that agents run when they are due, and the ledger of their due times."""

from penstock.areas.schedules.closed import ClosedLedgers
from penstock.areas.schedules.closing import LedgerClosing
from penstock.areas.schedules.gap_accounting import GapAccounting
from penstock.areas.schedules.history import ScheduleHistory
from penstock.areas.schedules.http import ScheduleOperations
from penstock.areas.schedules.kinds.schedule import ScheduleKind
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.ledger_entry import CLOSED_LEDGERS, RUNS, TICKS
from penstock.areas.schedules.model import SCHEDULES
from penstock.areas.schedules.service import ScheduleService
from penstock.areas.schedules.streams import ScheduleStreams
from penstock.areas.schedules.worker import GapSweep, LedgerTaker, StreamRepair
from penstock.resource.area import Area
from penstock.resource.reports import AgentReports

AREA = Area(
    "schedules",
    collections=(SCHEDULES,),
    journals=(TICKS, RUNS, CLOSED_LEDGERS),
    services=(
        AgentReports,
        ClosedLedgers,
        GapAccounting,
        Ledger,
        LedgerClosing,
        ScheduleHistory,
        ScheduleService,
        ScheduleStreams,
    ),
    handlers=(ScheduleOperations,),
    workers=(GapSweep, LedgerTaker, StreamRepair),
    kinds=(ScheduleKind,),
)
