"""Agents: registration, presence, capabilities, history."""

from penstock.areas.agents.configuration import AgentConfigurations
from penstock.areas.agents.credentials import AgentCredentials
from penstock.areas.agents.http import AgentOperations, RegistrationOperations
from penstock.areas.agents.model import AGENTS, HISTORY, PENDING_REGISTRATIONS
from penstock.areas.agents.presence import Presence
from penstock.areas.agents.registration import Registrations
from penstock.areas.agents.roster import Roster
from penstock.areas.agents.service import AgentService
from penstock.areas.agents.worker import PingListener, PresenceSweep
from penstock.resource.area import Area
from penstock.resource.ports.agents import AgentDirectory

AREA = Area(
    "agents",
    collections=(AGENTS, PENDING_REGISTRATIONS),
    journals=(HISTORY,),
    services=(AgentConfigurations, AgentCredentials, AgentService, Presence, Registrations, Roster),
    handlers=(RegistrationOperations, AgentOperations),
    workers=(PingListener, PresenceSweep),
    credentials=(AgentCredentials,),
    provides=((AgentDirectory, Roster),),
)
