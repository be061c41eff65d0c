"""How an agent becomes known (specification 1, "Agent resources")."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.wire import Wire
from penstock.protocol.capability import AgentCapability


class AgentRegistrationData(Wire):
    """What a new agent sends. Token: the single-use token of its pending registration."""

    name: str | None = None
    token: str | None = None
    initial_capabities: list[AgentCapability] | None = None
    initial_base_address: str | None = None


class AgentRegistrationDto(Wire):
    """What a new agent gets. ValidationToken: its credential from now on, shown only here."""

    id: UUID
    name: str | None = None
    validation_token: str | None = None
    identity_base_address: str | None = None
    configuration_base_address: str | None = None
    server_base_address: str | None = None


class AgentConfiguration(Wire):
    """The JSON document in the string that `GET /agent/configuration` answers.

    bus_servers: addresses of the bus. bus_jwt, bus_seed: the agent's own credential there, good until `bus_expires`.
    server_key: verifies answers, see `signature`. ping_seconds, resync_seconds: intervals.
    """

    agent_id: UUID
    agent_name: str
    bus_servers: list[str]
    bus_jwt: str
    bus_seed: str
    bus_expires: datetime
    server_key: str
    ping_seconds: float
    resync_seconds: float
