"""How a web job stands on the agents that it is for."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.webjobs.assignments import WebJobStates
from penstock.areas.webjobs.model import WebJobAgentStatus, WebJobEntity
from penstock.areas.webjobs.service import WebJobService
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.protocol.web_job import WebJobPhase, WebJobState
from penstock.resource.matching import Matching, needs_of
from penstock.resource.ports.agents import KnownAgent
from penstock.resource.ports.generated_flows import GeneratedFlows

_PHASES = {
    IntegrationFlowStatusEnum.RUNNING: WebJobPhase.SCHEDULED,
    IntegrationFlowStatusEnum.ERROR: WebJobPhase.ERROR,
    IntegrationFlowStatusEnum.STOPPED: WebJobPhase.STOPPED,
    IntegrationFlowStatusEnum.UNKNOWN: WebJobPhase.UNKNOWN,
}


class WebJobOverview:
    """Reads of what agents reported, of the web job or of its flow."""

    def __init__(self, jobs: WebJobService, states: WebJobStates, flows: GeneratedFlows, matching: Matching) -> None:
        self._jobs = jobs
        self._states = states
        self._flows = flows
        self._matching = matching

    async def of(self, name: str) -> Sequence[WebJobAgentStatus]:
        """Raises NotFound."""
        job = await self._jobs.named(name)
        told = await (self._of_flow(job) if job.cron_expression else self._states.of_item(job.key))
        agents = (await self._matching.matcher()).agents_for(needs_of(job.requirements or ()))
        return [_status(agent, told.get(agent.id)) for agent in agents]

    async def _of_flow(self, job: WebJobEntity) -> Mapping[UUID, WebJobState]:
        """How its flow stands, by agent, as that of a web job."""
        states = await self._flows.states(job.flow)
        return {
            agent_id: WebJobState(phase=_PHASES[state.status], since=state.at, message=state.message)
            for agent_id, state in states.items()
        }


def _status(agent: KnownAgent, state: WebJobState | None) -> WebJobAgentStatus:
    status = WebJobAgentStatus(
        agent_id=agent.id, agent_name=agent.name, online=agent.online, status=WebJobPhase.UNKNOWN
    )
    if state is not None:
        status.status, status.since, status.starts = state.phase, state.since, state.starts
        status.exit_code, status.message = state.exit_code, state.message
    return status
