"""Endpoints as the API shows them (specification 1, "Integration resources" and "Agent resources")."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.status import EndpointStatusEnum, StatusLogOfEndpointStatusEnum


class IntegrationEndpoint(Entity):
    """An API hosted at a route by every agent that meets the Requirements.

    JsonConfiguration: a JSON object as the API's ConfigurationSchema describes it, secrets masked.
    """

    name: str | None = None
    api_name: str | None = None
    api_version: str | None = None
    route: str | None = None
    json_configuration: str | None = None
    description: str | None = None
    requirements: list[Requirement] | None = None


class IntegrationEndpointAgent(Wire):
    """An endpoint as it is on one agent. EndpointStatus: null before the agent has reported."""

    endpoint_id: UUID
    name: str | None = None
    route: str | None = None
    api_name: str | None = None
    api_version: str | None = None
    configuration: str | None = None
    endpoint_status: EndpointStatusEnum | None = None


class AgentEndpointStatus(Entity):
    """How an endpoint stands on an agent. StatusUpdates: its latest moves, the oldest first."""

    agent_id: UUID
    endpoint_id: UUID
    route: str | None = None
    configuration: str | None = None
    current_status: EndpointStatusEnum
    previous_status: EndpointStatusEnum
    last_status_update: datetime
    status_updates: list[StatusLogOfEndpointStatusEnum] | None = None


class AgentEndpointSchema(Entity):
    """The OpenAPI document that an endpoint shows on an agent, as text."""

    agent_id: UUID
    endpoint_id: UUID
    schema: str | None = None
