"""Endpoints: APIs of packages, hosted by agents at routes, and what they show of themselves."""

from penstock.areas.endpoints.agent_http import AgentEndpointOperations
from penstock.areas.endpoints.assignments import EndpointAssignments, EndpointCoverage
from penstock.areas.endpoints.endpoint_http import EndpointOperations
from penstock.areas.endpoints.hosted import EndpointPlaces
from penstock.areas.endpoints.kinds.integration_endpoint import IntegrationEndpointKind
from penstock.areas.endpoints.overview import EndpointOverview
from penstock.areas.endpoints.schema_http import SchemaOperations
from penstock.areas.endpoints.service import EndpointService
from penstock.areas.endpoints.states import EndpointStates
from penstock.areas.endpoints.stored import ENDPOINT_STATES, ENDPOINTS, UNMATCHED_ENDPOINTS
from penstock.areas.endpoints.uses import EndpointUses
from penstock.areas.endpoints.worker import (
    EndpointAgents,
    EndpointNotices,
    EndpointReportTaker,
    EndpointSealRenewal,
)
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.assignment_worker import AssignmentLinks
from penstock.resource.assignments import AssignmentParts
from penstock.resource.matching import Matching
from penstock.resource.ports.apis import ApiUses
from penstock.resource.ports.endpoint_documents import EndpointDocuments
from penstock.resource.ports.hosted_endpoints import HostedEndpoints
from penstock.resource.reports import AgentReports

AREA = Area(
    "endpoints",
    collections=(ENDPOINTS, ENDPOINT_STATES, UNMATCHED_ENDPOINTS),
    services=(
        AgentQuestions,
        AgentReports,
        AssignmentLinks,
        AssignmentParts,
        EndpointAssignments,
        EndpointCoverage,
        EndpointNotices,
        EndpointOverview,
        EndpointPlaces,
        EndpointService,
        EndpointStates,
        EndpointUses,
        Matching,
    ),
    handlers=(AgentEndpointOperations, EndpointOperations, SchemaOperations),
    workers=(EndpointAgents, EndpointReportTaker, EndpointSealRenewal),
    kinds=(IntegrationEndpointKind,),
    provides=((ApiUses, EndpointUses), (EndpointDocuments, EndpointOverview), (HostedEndpoints, EndpointPlaces)),
)
