"""Flows: what is to run where, how it stands, what it logs."""

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.areas.flows.gaps import Gaps
from penstock.areas.flows.generated import GeneratedFlowService
from penstock.areas.flows.http import FlowOperations
from penstock.areas.flows.log_entry import FLOW_LOGS
from penstock.areas.flows.logs import FlowLogs
from penstock.areas.flows.model import FLOW_GAPS, FLOW_STATES, FLOWS
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.service import FlowService
from penstock.areas.flows.states import FlowStates
from penstock.areas.flows.worker import CoverageWatch, FlowLogTaker, FlowStateTaker, NoticeSender, WorkQuestions
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.matching import Matching
from penstock.resource.ports import FlowGaps, GeneratedFlows
from penstock.resource.reports import AgentReports

AREA = Area(
    "flows",
    collections=(FLOWS, FLOW_STATES, FLOW_GAPS),
    journals=(FLOW_LOGS,),
    services=(
        AgentNotices,
        AgentQuestions,
        AgentReports,
        Coverage,
        DesiredState,
        FlowCatalog,
        FlowLogs,
        FlowService,
        FlowStates,
        Gaps,
        GeneratedFlowService,
        Matching,
    ),
    handlers=(FlowOperations,),
    workers=(CoverageWatch, FlowLogTaker, FlowStateTaker, NoticeSender, WorkQuestions),
    provides=((GeneratedFlows, GeneratedFlowService), (FlowGaps, Gaps)),
)
