"""Event sources and triggers: where events come from, and the catalogs of their kinds."""

from penstock.areas.eventsources.agents import AgentSources
from penstock.areas.eventsources.assignments import SourceAssignments, SourceCoverage
from penstock.areas.eventsources.catalog_http import ComponentCatalogOperations, SourceCatalogOperations
from penstock.areas.eventsources.catalogs import CatalogService
from penstock.areas.eventsources.configured import Configurations
from penstock.areas.eventsources.instance_http import AgentSourceOperations, InstanceOperations, TrackingOperations
from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.kinds.database_change_tracking import DatabaseChangeTrackingKind
from penstock.areas.eventsources.kinds.event_source import EventSourceKind
from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.areas.eventsources.overview import SourceOverview
from penstock.areas.eventsources.reports import SourceReports
from penstock.areas.eventsources.source_events import SourceEvents
from penstock.areas.eventsources.states import SourceStates
from penstock.areas.eventsources.stored import (
    CATALOGS,
    INSTANCES,
    SOURCE_STATES,
    TAKEN_EVENTS,
    TRACKINGS,
    TRIGGER_RUNS,
    TRIGGERS,
    UNMATCHED_SOURCES,
)
from penstock.areas.eventsources.streams import SourceStreams
from penstock.areas.eventsources.trackings import TrackingService
from penstock.areas.eventsources.trigger_http import TriggerOperations
from penstock.areas.eventsources.trigger_runs import TriggerRuns
from penstock.areas.eventsources.trigger_schedule import TriggerSchedule
from penstock.areas.eventsources.triggers import TriggerService
from penstock.areas.eventsources.worker import (
    CatalogInstaller,
    KindRefresh,
    SourceAgents,
    SourceReportTaker,
    SourceSealRenewal,
    SourceStreamRepair,
    TriggerRepair,
    TriggerRunner,
)
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Area
from penstock.resource.assignment_worker import AssignmentLinks
from penstock.resource.assignments import AssignmentParts
from penstock.resource.matching import Matching
from penstock.resource.reports import AgentReports

AREA = Area(
    "eventsources",
    collections=(CATALOGS, INSTANCES, SOURCE_STATES, TRACKINGS, TRIGGER_RUNS, TRIGGERS, UNMATCHED_SOURCES),
    journals=(TAKEN_EVENTS,),
    services=(
        AgentQuestions,
        AgentReports,
        AgentSources,
        AssignmentLinks,
        AssignmentParts,
        CatalogService,
        Configurations,
        InstanceService,
        KnownKinds,
        Matching,
        SourceAssignments,
        SourceCoverage,
        SourceEvents,
        SourceOverview,
        SourceReports,
        SourceStates,
        SourceStreams,
        TrackingService,
        TriggerRuns,
        TriggerSchedule,
        TriggerService,
    ),
    handlers=(
        AgentSourceOperations,
        ComponentCatalogOperations,
        InstanceOperations,
        SourceCatalogOperations,
        TrackingOperations,
        TriggerOperations,
    ),
    workers=(
        CatalogInstaller,
        KindRefresh,
        SourceAgents,
        SourceReportTaker,
        SourceSealRenewal,
        SourceStreamRepair,
        TriggerRepair,
        TriggerRunner,
    ),
    kinds=(DatabaseChangeTrackingKind, EventSourceKind),
)
