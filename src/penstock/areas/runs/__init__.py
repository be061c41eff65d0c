"""Runs of actions and notebooks: accepted, carried out, and kept on record."""

from penstock.areas.runs.http import RunOperations
from penstock.areas.runs.service import RunService
from penstock.areas.runs.stored import RUNS
from penstock.areas.runs.worker import LeftoverRuns, RunWorker
from penstock.resource.area import Area
from penstock.resource.ports.runs import Runs

AREA = Area(
    name="runs",
    collections=(RUNS,),
    services=(RunService,),
    handlers=(RunOperations,),
    workers=(RunWorker, LeftoverRuns),
    provides=((Runs, RunService),),
)
