"""How a web job stands on the agents that it is for."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.webjobs.assignments import WebJobStates
from penstock.areas.webjobs.model import WebJobAgentStatus, WebJobEntity
from penstock.areas.webjobs.service import WebJobService
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.protocol.web_job import WebJobPhase
from penstock.resource.matching import Matching, needs_of
from penstock.resource.ports import GeneratedFlows, KnownAgent

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
        agents = (await self._matching.matcher()).agents_for(needs_of(job.requirements or ()))
        told = await (self._of_flow(job, agents) if job.cron_expression else self._of_job(job, agents))
        return [
            told.get(agent.id)
            or WebJobAgentStatus(
                agent_id=agent.id, agent_name=agent.name, online=agent.online, status=WebJobPhase.UNKNOWN
            )
            for agent in agents
        ]

    async def _of_job(self, job: WebJobEntity, agents: Sequence[KnownAgent]) -> Mapping[UUID, WebJobAgentStatus]:
        states = await self._states.of_item(job.key)
        return {
            agent.id: WebJobAgentStatus(
                agent_id=agent.id,
                agent_name=agent.name,
                online=agent.online,
                status=state.phase,
                since=state.since,
                starts=state.starts,
                exit_code=state.exit_code,
                message=state.message,
            )
            for agent in agents
            if (state := states.get(agent.id)) is not None
        }

    async def _of_flow(self, job: WebJobEntity, agents: Sequence[KnownAgent]) -> Mapping[UUID, WebJobAgentStatus]:
        states = await self._flows.states(job.flow)
        return {
            agent.id: WebJobAgentStatus(
                agent_id=agent.id,
                agent_name=agent.name,
                online=agent.online,
                status=_PHASES[state.status],
                since=state.at,
                message=state.message,
            )
            for agent in agents
            if (state := states.get(agent.id)) is not None
        }
