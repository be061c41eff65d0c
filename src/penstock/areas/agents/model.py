"""Agents, their registrations and their history (specification 1, "Agent resources")."""

from datetime import datetime, timedelta
from enum import IntEnum
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
from penstock.protocol.capability import AgentCapability
from penstock.protocol.status import AgentEndpointManagerStatusEnum, AgentStatusPing
from penstock.store.definition import Collection, Column, ColumnType, Journal


class AgentStatusEnum(IntEnum):
    """How an agent stands: 3 is registered and not heard of yet, 4 keeps its record and gets no work."""

    UNKNOWN = 0
    ONLINE = 1
    OFFLINE = 2
    PENDING = 3
    DEPRECATED = 4


class Agent(Entity):
    """A registered agent.

    LastUpdateDate: when its capabilities last changed, or it was given work again after being deprecated.
    LastSeen: exact while the servers run; they store it at least every five minutes, and the ETag does not cover it.
    """

    name: str | None = None
    pool_name: str | None = None
    capabilities: list[AgentCapability] | None = None
    current_status_enum: AgentStatusEnum = AgentStatusEnum.UNKNOWN
    current_status_message: str | None = None
    integration_status: AgentEndpointManagerStatusEnum = AgentEndpointManagerStatusEnum.EMPTY
    last_seen: datetime | None = None
    base_address: str | None = None
    last_build_version: str | None = None
    last_build_date: datetime | None = None
    last_update_date: datetime | None = None

    @property
    def works(self) -> bool:
        """Whether it may be given work."""
        return self.current_status_enum is not AgentStatusEnum.DEPRECATED


class AgentFilter(Wire):
    """Which agents to list. Status may be repeated."""

    status: list[AgentStatusEnum] | None = None


class AgentValidationDto(Wire):
    """RemoteAddress: where the agent was met; it is recorded."""

    id: UUID
    remote_address: str | None = None
    validation_token: str | None = None


class PendingAgentRegistration(Entity):
    """A registration that waits for its agent. Its token holds once, until Expires."""

    pool_name: str | None = None
    expires: datetime


class PendingAgentRegistrationDto(Wire):
    """Token: what the agent registers with; shown only here."""

    id: UUID
    server_baseaddress: str | None = None
    token: str | None = None


class AgentStatusHistoryItem(Entity):
    """A sign of life that was kept."""

    agent_id: UUID
    status_update: AgentStatusPing | None = None


AGENTS: Collection[Agent] = Collection(
    "agents",
    Agent,
    (
        # A deprecated agent's name is free, so that a machine set up anew can have it.
        Column("name", lambda agent: agent.name if agent.works else None, ColumnType.KEY, unique=True),
        Column("status", lambda agent: agent.current_status_enum, ColumnType.INTEGER),
    ),
)
PENDING_REGISTRATIONS: Collection[PendingAgentRegistration] = Collection(
    "pending_agent_registrations", PendingAgentRegistration
)
HISTORY: Journal[AgentStatusHistoryItem] = Journal(
    "agent_status_history",
    AgentStatusHistoryItem,
    at=lambda item: item.created_date,
    key=lambda item: str(item.id),
    columns=(Column("agent", lambda item: str(item.agent_id)),),
    keep=timedelta(days=30),
)
