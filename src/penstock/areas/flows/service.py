"""Flows as operators see, start, stop and delete them."""

from collections.abc import Sequence
from importlib.metadata import version

import msgspec

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.gaps import REMOVED, Gaps
from penstock.areas.flows.model import (
    FLOWS,
    AgentIntegrationFlowStatus,
    Flow,
    IntegrationFlowDto,
    IntegrationFlowsResponseItem,
)
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.states import FlowStates
from penstock.areas.flows.summary import status_on, summarised
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_key
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.changes import Changes
from penstock.resource.matching import Matching, needs_of
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write

_TRIES = 10
_ENGINE = f"penstock {version('penstock')}"


class FlowService:
    """Reads and requests; agents converge to what was requested."""

    def __init__(
        self,
        store: Store,
        changes: Changes,
        clock: Clock,
        catalog: FlowCatalog,
        states: FlowStates,
        coverage: Coverage,
        gaps: Gaps,
        notices: AgentNotices,
        matching: Matching,
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._states = states
        self._coverage = coverage
        self._gaps = gaps
        self._notices = notices
        self._matching = matching
        self._flows = Resource(FLOWS, store, changes, clock, kind="flow")

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

    async def get(self, name: str) -> IntegrationFlowsResponseItem:
        """Raises NotFound."""
        flow = await self._flow(name)
        return IntegrationFlowsResponseItem(
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
            files=flow.integration_files,
            flow_engine_version=_ENGINE,
        )

    async def status(self, name: str) -> Sequence[AgentIntegrationFlowStatus]:
        """The flow on each agent that it matches. Raises NotFound."""
        flow = await self._flow(name)
        matcher = await self._matching.matcher(fresh=False)
        states = {state.agent_id: state for state in await self._states.of_flow(name)}
        reported = {id: state.status for id, state in states.items()}
        return [
            AgentIntegrationFlowStatus(
                agent_id=agent.id,
                integration_name=flow.name,
                status=status_on(agent, reported),
                update_time=states[agent.id].at if agent.id in states else flow.since,
            )
            for agent in matcher.agents_for(needs_of(flow.requirements))
        ]

    async def start(self, name: str, actor: Actor) -> None:
        """Raises NotFound."""
        await self._request(name, IntegrationStatusEnum2.STARTED, actor)

    async def stop(self, name: str, actor: Actor) -> None:
        """Raises NotFound."""
        await self._request(name, IntegrationStatusEnum2.STOPPED, actor)

    async def delete(self, name: str, actor: Actor) -> None:
        """Raises NotFound. The due times of a schedule whose flow is deleted are skipped from now on."""

        async def plan(flow: Flow) -> Sequence[Write]:
            return [
                *self._flows.plan_delete(flow, actor, flow.e_tag),
                *await self._states.plan_remove(flow.name),
                *await self._gaps.plan_move(flow, self._clock.now(), REMOVED),
            ]

        for left in reversed(range(_TRIES)):
            flow = await self._flow(name)
            try:
                await self._flows.commit(await plan(flow), flow)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            self._notices.note(flow.name, [needs_of(flow.requirements)])
            return

    async def _request(self, name: str, wanted: IntegrationStatusEnum2, actor: Actor) -> None:
        for left in reversed(range(_TRIES)):
            before = await self._flow(name)
            if before.requested_status is wanted:
                return
            now = self._clock.now()
            after = msgspec.structs.replace(before, requested_status=wanted, stamp=new_id().hex, since=now)
            after, placing = await self._coverage.place(after, before)
            stored, writes = self._flows.plan_replace(after, before, actor)
            try:
                await self._flows.commit([*writes, *placing], stored)
            except (NotFound, Stale):
                if not left:
                    raise
                continue
            self._notices.note(stored.name, [needs_of(stored.requirements)])
            return

    async def _flow(self, name: str) -> Flow:
        flow = (await self._catalog.stored([name])).get(name_key(name))
        if flow is None:
            raise NotFound.of("flow", name)
        return flow
