"""Web jobs: commands that agents run when they are due, or keep running."""

from penstock.areas.webjobs.assignments import WebJobAssignments, WebJobCoverage, WebJobStates
from penstock.areas.webjobs.http import WebJobOperations
from penstock.areas.webjobs.kinds.web_job import WebJobKind
from penstock.areas.webjobs.model import UNMATCHED_WEB_JOBS, WEB_JOB_STATES, WEB_JOBS
from penstock.areas.webjobs.overview import WebJobOverview
from penstock.areas.webjobs.service import WebJobService
from penstock.areas.webjobs.worker import WebJobAgents, WebJobReportTaker
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.assignment_worker import AssignmentLinks
from penstock.resource.assignments import AssignmentParts
from penstock.resource.matching import Matching
from penstock.resource.ports.cron_jobs import CronJobs
from penstock.resource.reports import AgentReports

AREA = Area(
    "webjobs",
    collections=(WEB_JOBS, WEB_JOB_STATES, UNMATCHED_WEB_JOBS),
    services=(
        AgentQuestions,
        AgentReports,
        AssignmentLinks,
        AssignmentParts,
        Matching,
        WebJobAssignments,
        WebJobCoverage,
        WebJobOverview,
        WebJobService,
        WebJobStates,
    ),
    handlers=(WebJobOperations,),
    workers=(WebJobAgents, WebJobReportTaker),
    kinds=(WebJobKind,),
    provides=((CronJobs, WebJobService),),
)
