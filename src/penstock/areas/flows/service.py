"""Flows as operators see, start, stop and delete them."""

from collections.abc import Sequence

import msgspec

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.changing import FlowChanges
from penstock.areas.flows.content import FlowContents
from penstock.areas.flows.gaps import REMOVED, Gaps
from penstock.areas.flows.model import (
    AgentIntegrationFlowStatus,
    Flow,
    FlowOnAgent,
    IntegrationFlowDto,
    IntegrationFlowsResponseItem,
)
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.saving import e_tag_of
from penstock.areas.flows.states import FlowStates
from penstock.areas.flows.summary import status_on, summarised
from penstock.areas.flows.vitals import FlowVitals
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Stale
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.answer import Encoded
from penstock.resource.matching import Matching, needs_of
from penstock.store.write import Write

_TRIES = 10


class FlowService:
    """Reads and requests; agents converge to what was requested."""

    def __init__(
        self,
        clock: Clock,
        catalog: FlowCatalog,
        changes: FlowChanges,
        contents: FlowContents,
        states: FlowStates,
        vitals: FlowVitals,
        gaps: Gaps,
        notices: AgentNotices,
        matching: Matching,
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._states = states
        self._vitals = vitals
        self._changes = changes
        self._contents = contents
        self._gaps = gaps
        self._notices = notices
        self._matching = matching

    async def list(self) -> list[IntegrationFlowDto]:
        """All flows with their counts, newest first."""
        flows = await self._catalog.flows()
        matcher = await self._matching.matcher(fresh=False)
        reported = await self._states.of_all()
        newest_first = sorted(flows, key=lambda flow: flow.id, reverse=True)
        return [
            summarised(flow, matcher.agents_for(flow.needs), reported.get(name_key(flow.name), {}))
            for flow in newest_first
        ]

    async def get(self, name: str) -> Encoded[IntegrationFlowsResponseItem]:
        """Raises NotFound."""
        flow = await self._flow(name)
        engines = {state.engine for state in await self._states.of_flow(name) if state.engine}
        item = IntegrationFlowsResponseItem(
            name=flow.name,
            project=flow.project,
            version=flow.version,
            requested_status=flow.requested_status,
            properties=flow.variables,
            category=flow.category,
            labels=flow.labels,
            additional_packages=flow.additional_packages,
            requirements=flow.requirements,
            readme=flow.readme,
            files=await self._contents.files(flow.integration_files or ()),
            flow_engine_version=", ".join(sorted(engines)) or None,
        )
        return Encoded(encode(item), e_tag_of(flow))

    async def status(self, name: str) -> Sequence[AgentIntegrationFlowStatus]:
        """The flow on each agent that it matches. Raises NotFound."""
        flow = await self._flow(name)
        matcher = await self._matching.matcher(fresh=False)
        states = {state.agent_id: state for state in await self._states.of_flow(name)}
        return [
            AgentIntegrationFlowStatus(
                agent_id=agent.id,
                integration_name=flow.name,
                status=status_on(agent, states),
                update_time=states[agent.id].at if agent.id in states else flow.since,
            )
            for agent in matcher.agents_for(needs_of(flow.requirements))
        ]

    async def on_agents(self, name: str) -> Sequence[FlowOnAgent]:
        """The flow on each agent that it matches, with all that the agent told. Raises NotFound."""
        flow = await self._flow(name)
        matcher = await self._matching.matcher(fresh=False)
        states = {state.agent_id: state for state in await self._states.of_flow(name)}
        found = []
        for agent in matcher.agents_for(needs_of(flow.requirements)):
            state = states.get(agent.id)
            found.append(
                FlowOnAgent(
                    agent_id=agent.id,
                    agent=agent.name,
                    status=status_on(agent, states),
                    version=state.version if state is not None else None,
                    flow_engine_version=state.engine if state is not None else None,
                    message=state.message if state is not None else None,
                    update_time=state.at if state is not None else flow.since,
                    detail=self._vitals.of(agent.id, flow.name),
                )
            )
        return found

    async def start(self, name: str, actor: Actor) -> None:
        """Raises NotFound."""
        await self._request(name, IntegrationStatusEnum2.STARTED, actor)

    async def stop(self, name: str, actor: Actor) -> None:
        """Raises NotFound."""
        await self._request(name, IntegrationStatusEnum2.STOPPED, actor)

    async def delete(self, name: str, actor: Actor, if_match: str | None = None) -> None:
        """Raises NotFound, Stale. The due times of a schedule whose flow is deleted are skipped from now on."""

        for left in reversed(range(_TRIES)):
            flow = await self._flow(name)
            if if_match is not None and if_match != e_tag_of(flow):
                raise Stale
            try:
                await self._changes.flows.commit(await self.plan_delete(flow, actor), flow)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            self._notices.note(flow.name, [needs_of(flow.requirements)])
            return

    async def plan_delete(self, flow: Flow, actor: Actor) -> Sequence[Write]:
        """The writes that delete a flow and what agents told of it."""
        return [
            *self._changes.flows.plan_delete(flow, actor, flow.e_tag),
            *await self._states.plan_remove(flow.name),
            *await self._gaps.plan_move(flow, self._clock.now(), REMOVED),
        ]

    async def _request(self, name: str, wanted: IntegrationStatusEnum2, actor: Actor) -> None:
        for left in reversed(range(_TRIES)):
            before = await self._flow(name)
            if before.requested_status is wanted and not await self._is_to_be_tried_again(before):
                return
            after = msgspec.structs.replace(before, requested_status=wanted)
            stored, writes = await self._changes.plan_request(after, before, actor)
            try:
                await self._changes.flows.commit(writes, stored)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            self._notices.note(stored.name, [needs_of(stored.requirements)])
            return

    async def _is_to_be_tried_again(self, flow: Flow) -> bool:
        """Whether it is to run and an agent has given it up."""
        if flow.requested_status is not IntegrationStatusEnum2.STARTED:
            return False
        return any(state.status is IntegrationFlowStatusEnum.ERROR for state in await self._states.of_flow(flow.name))

    async def _flow(self, name: str) -> Flow:
        flow = (await self._catalog.stored([name])).get(name_key(name))
        if flow is None:
            raise NotFound.of("flow", name)
        return flow
