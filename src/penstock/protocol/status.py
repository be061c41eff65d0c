"""What agents tell about themselves (specification 1, "Agent resources")."""

from datetime import datetime
from enum import IntEnum, StrEnum
from uuid import UUID

from penstock.kernel.wire import Int32, Int64, Wire
from penstock.protocol.capability import AgentCapability


class EndpointStatusEnum(IntEnum):
    """State of an endpoint on an agent, as a number."""

    NEW = 0
    INITIALIZING = 1
    INITIALIZING_FAILED = 2
    READY = 3
    CHANGED = 4
    FAILED = 5
    UNHEALTHY = 6


class EndpointStatusEnum2(StrEnum):
    """State of an endpoint on an agent, by name."""

    NEW = "New"
    INITIALIZING = "Initializing"
    INITIALIZING_FAILED = "InitializingFailed"
    READY = "Ready"
    CHANGED = "Changed"
    FAILED = "Failed"
    UNHEALTHY = "Unhealthy"


class AgentEndpointManagerStatusEnum(IntEnum):
    """State of all endpoints of an agent together, as a number."""

    INITIALIZING = 0
    CHANGED = 1
    RUNNING = 2
    PARTIALLY_RUNNING = 3
    FAILED = 4
    EMPTY = 5


class AgentEndpointManagerStatusEnum2(StrEnum):
    """State of all endpoints of an agent together, by name."""

    INITIALIZING = "Initializing"
    CHANGED = "Changed"
    RUNNING = "Running"
    PARTIALLY_RUNNING = "PartiallyRunning"
    FAILED = "Failed"
    EMPTY = "Empty"


class AgentApiDefinition(Wire):
    """An API that a package on the agent offers."""

    api_name: str | None = None
    api_version: str | None = None


class StatusLogOfEndpointStatusEnum(Wire):
    """One move of an endpoint from state to state."""

    previous_status: EndpointStatusEnum2
    new_status: EndpointStatusEnum2
    log_time: datetime
    message: str | None = None


class AgentEndpointDto(Wire):
    """An endpoint as it stands on an agent."""

    endpoint_id: UUID
    agent_id: UUID
    route: str | None = None
    api: AgentApiDefinition | None = None
    configuration: str | None = None
    current_status: EndpointStatusEnum
    previous_status: EndpointStatusEnum
    last_status_update: datetime
    status_updates: list[StatusLogOfEndpointStatusEnum] | None = None
    endpoint_name: str | None = None
    endpoint_route: str | None = None


class IntegrationStatistics(Wire):
    """Counters of one flow. Times are milliseconds; loads are averages of exchanges in flight."""

    load01: str | None = None
    load05: str | None = None
    load15: str | None = None
    exchanges_throughput: str | None = None
    exchanges_total: Int32 = 0
    exchanges_failed: Int32 = 0
    exchanges_inflight: Int32 = 0
    reloaded: Int32 = 0
    mean_processing_time: Int32 = 0
    max_processing_time: Int32 = 0
    min_processing_time: Int32 = 0
    last_processing_time: Int32 = 0
    delta_processing_time: Int32 = 0
    since_last_created_exchange: str | None = None
    since_last_completed_exchange: str | None = None


class IntegrationLogMessage(Wire):
    """One line that a flow logged."""

    id: UUID
    time_stamp: datetime
    log_level: str | None = None
    message: str | None = None
    exception_message: str | None = None
    exception_type: str | None = None
    stack_trace: str | None = None


class IntegrationStatus(Wire):
    """One flow as it runs on an agent."""

    integration_name: str | None = None
    pid: Int64 = 0
    integration_file: str | None = None
    integration_file_path: str | None = None
    working_directory: str | None = None
    state: str | None = None
    up_time: str | None = None
    statistics: IntegrationStatistics | None = None
    log_messages: list[IntegrationLogMessage] | None = None


class AgentStatusPing(Wire):
    """The sign of life that an agent sends. IntegrationFlowStatusList has the flows that changed since the last one."""

    agent_id: UUID
    endpoints: list[AgentEndpointDto] | None = None
    system_status: AgentEndpointManagerStatusEnum2
    available_apis: list[AgentApiDefinition] | None = None
    capabilities: list[AgentCapability] | None = None
    build_version: str | None = None
    build_date: datetime | None = None
    agent_name: str | None = None
    pool_name: str | None = None
    base_address: str | None = None
    integration_flow_status_list: list[IntegrationStatus] | None = None
