"""Flows: what is to run where, how it stands, what it logs."""

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.changing import FlowChanges
from penstock.areas.flows.content import FLOW_CONTENTS, FlowContents
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.areas.flows.drafts import FlowDraftService
from penstock.areas.flows.gaps import Gaps
from penstock.areas.flows.generated import GeneratedFlowService
from penstock.areas.flows.http import FlowOperations
from penstock.areas.flows.http_saving import FlowSavingOperations
from penstock.areas.flows.kinds.integration_flow import IntegrationFlowKind
from penstock.areas.flows.log_entry import FLOW_LOGS
from penstock.areas.flows.logs import FlowLogs
from penstock.areas.flows.model import FLOW_GAPS, FLOW_STATES, FLOWS
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.saving import FlowSaving
from penstock.areas.flows.service import FlowService
from penstock.areas.flows.states import FlowStates
from penstock.areas.flows.version import FLOW_VERSIONS, FlowVersions
from penstock.areas.flows.vitals import FlowVitals
from penstock.areas.flows.worker import (
    CoverageWatch,
    FlowLogTaker,
    FlowStateTaker,
    NoticeSender,
    VitalsListener,
    WorkQuestions,
)
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.matching import Matching
from penstock.resource.ports.flow_drafts import FlowDrafts
from penstock.resource.ports.flow_gaps import FlowGaps
from penstock.resource.ports.generated_flows import GeneratedFlows
from penstock.resource.reports import AgentReports

AREA = Area(
    "flows",
    collections=(FLOWS, FLOW_STATES, FLOW_GAPS),
    journals=(FLOW_CONTENTS, FLOW_LOGS, FLOW_VERSIONS),
    services=(
        AgentNotices,
        AgentQuestions,
        AgentReports,
        Coverage,
        DesiredState,
        FlowCatalog,
        FlowChanges,
        FlowContents,
        FlowDraftService,
        FlowLogs,
        FlowSaving,
        FlowService,
        FlowStates,
        FlowVersions,
        FlowVitals,
        Gaps,
        GeneratedFlowService,
        Matching,
    ),
    handlers=(FlowOperations, FlowSavingOperations),
    workers=(CoverageWatch, FlowLogTaker, FlowStateTaker, NoticeSender, VitalsListener, WorkQuestions),
    kinds=(IntegrationFlowKind,),
    provides=((GeneratedFlows, GeneratedFlowService), (FlowDrafts, FlowDraftService), (FlowGaps, Gaps)),
)
