"""Integration flows (specification 1, "Integration resources")."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.entity import NEVER, Entity
from penstock.kernel.wire import Int32, Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.protocol.status import IntegrationStatus
from penstock.protocol.work import FlowFile, IntegrationStatusEnum2
from penstock.resource.ports.flow_gaps import FlowGap
from penstock.store.definition import Collection, Column, ColumnType


class IntegrationFlowFile(Wire):
    """A file beside a flow."""

    file_name: str | None = None
    file_content: str | None = None


class IntegrationFlow(Wire):
    """A flow as it is saved.

    FlowSpec: the routes, in Camel's YAML DSL. Variables: the flow's own; `{{var:NAME}}` means them before the
    platform's. IntegrationFiles: texts that lie in the flow's folder. AdditionalPackages: what it needs beside the
    engine, separated by commas or lines.
    """

    name: str | None = None
    project: str | None = None
    flow_spec: str | None = None
    variables: Map | None = None
    category: str | None = None
    labels: list[str] | None = None
    integration_files: list[IntegrationFlowFile] | None = None
    additional_packages: str | None = None
    requirements: list[Requirement] | None = None
    readme: str | None = None


class Flow(Entity):
    """A flow as stored. Its files are kept beside it, by their content.

    version: counts the saves. stamp: differs whenever agents must learn something new.
    since: when this version or request was made.
    schedule, cron: of the Schedule that makes the flow, if one does.
    unmatched_since: since when no agent matches; None while one does. matched_since: when that last ended.
    """

    name: str
    project: str | None = None
    flow_spec: str = ""
    variables: Map | None = None
    category: str | None = None
    labels: list[str] | None = None
    integration_files: list[FlowFile] | None = None
    additional_packages: str | None = None
    requirements: list[Requirement] = []
    readme: str | None = None
    version: str = "1"
    requested_status: IntegrationStatusEnum2 = IntegrationStatusEnum2.STOPPED
    stamp: str = ""
    since: datetime = NEVER
    schedule: str | None = None
    cron: str | None = None
    unmatched_since: datetime | None = None
    matched_since: datetime = NEVER


class IntegrationFlowDto(Wire):
    """A flow in the list of all.

    The counts are of the agents that the flow matches; an agent that is offline counts as Unknown.
    """

    flow_name: str | None = None
    project: str | None = None
    status: str | None = None
    requested_status: IntegrationStatusEnum2
    running_count: Int32
    error_count: Int32
    stopped_count: Int32
    unknown_count: Int32
    category: str | None = None
    additional_packages: str | None = None
    version: str | None = None
    labels: list[str] | None = None


class IntegrationFlowsResponseItem(Wire):
    """A flow with all that belongs to it. Properties: its variables."""

    name: str | None = None
    project: str | None = None
    version: str | None = None
    package_id: str | None = None
    requested_status: IntegrationStatusEnum2
    properties: Map | None = None
    category: str | None = None
    labels: list[str] | None = None
    additional_packages: str | None = None
    requirements: list[Requirement] | None = None
    readme: str | None = None
    files: list[IntegrationFlowFile] | None = None
    flow_engine_version: str | None = None


class AgentIntegrationFlowStatus(Wire):
    """How a flow stands on one agent."""

    agent_id: UUID
    integration_name: str | None = None
    status: IntegrationFlowStatusEnum
    update_time: datetime


class FlowOnAgent(Wire):
    """How a flow stands on one agent, with all that the agent told.

    Message: what is wrong, or what it waits for. Detail: as of the agent's latest sign of life; null before it.
    """

    agent_id: UUID
    agent: str
    status: IntegrationFlowStatusEnum
    version: str | None = None
    flow_engine_version: str | None = None
    message: str | None = None
    update_time: datetime
    detail: IntegrationStatus | None = None


class AgentFlowState(Wire):
    """What an agent last reported of a flow."""

    agent_id: UUID
    flow: str
    version: str
    status: IntegrationFlowStatusEnum
    at: datetime
    message: str | None = None
    detail: IntegrationStatus | None = None
    engine: str | None = None


_SHOWN = 300  # characters of a message in the list of all flows

FLOWS: Collection[Flow] = Collection(
    "flows", Flow, (Column("name", lambda flow: flow.name, ColumnType.KEY, unique=True),)
)
FLOW_STATES: Collection[AgentFlowState] = Collection(
    "flow_states",
    AgentFlowState,
    (
        Column("flow", lambda state: state.flow, ColumnType.KEY),
        Column("agent", lambda state: str(state.agent_id)),
        Column("status", lambda state: state.status, ColumnType.INTEGER),
        Column("at", lambda state: state.at, ColumnType.INTEGER),
        Column("message", lambda state: state.message and state.message[:_SHOWN]),
        Column("engine", lambda state: state.engine),
    ),
)
FLOW_GAPS: Collection[FlowGap] = Collection(
    "flow_gaps",
    FlowGap,
    # At most one gap of a flow is open.
    (Column("open", lambda gap: gap.flow if gap.end is None else None, ColumnType.KEY, unique=True),),
)
