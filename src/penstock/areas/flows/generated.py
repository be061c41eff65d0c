"""Flows that other resources make: created, changed and removed in the same commit as those."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.changing import FlowChanges, next_version
from penstock.areas.flows.gaps import Gaps
from penstock.areas.flows.model import Flow
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.states import FlowStates
from penstock.flow.parsing.parser import parse_flow
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NameTaken
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_key
from penstock.protocol.capability import Requirement
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.matching import Needs, needs_of
from penstock.resource.ports.generated_flows import GeneratedFlow, GeneratedFlowState
from penstock.store.write import Write


class GeneratedFlowService:
    """See GeneratedFlows."""

    def __init__(
        self,
        clock: Clock,
        catalog: FlowCatalog,
        changes: FlowChanges,
        states: FlowStates,
        gaps: Gaps,
        notices: AgentNotices,
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._states = states
        self._changes = changes
        self._gaps = gaps
        self._notices = notices
        self._concerned: defaultdict[str, set[Needs]] = defaultdict(set)

    async def plan_put(self, flow: GeneratedFlow, actor: Actor) -> Sequence[Write]:
        """A flow whose text, requirements or due times change gets its next version.

        Raises Invalid when the spec is no flow, NameTaken when something else has made a flow of this name.
        """
        before = await self._stored(flow.name)
        if before is None:
            parse_flow(flow.name, next_version(None), flow.spec)
            new = Flow(id=new_id(), name=flow.name, requested_status=IntegrationStatusEnum2.STARTED)
            stored, writes = await self._changes.plan_create(_described(new, flow), actor)
            self._note(flow.name, stored)
            return writes
        if before.schedule != flow.schedule:
            raise NameTaken(f"a flow '{flow.name}' exists that was not made by this resource")
        described = _described(before, flow)
        if described == before:
            return []
        if _runs_differently(described, before):
            parse_flow(flow.name, next_version(before), flow.spec)
            stored, writes = await self._changes.plan_save(described, before, actor)
        elif described.requested_status is not before.requested_status:
            stored, writes = await self._changes.plan_request(described, before, actor)
        else:
            stored, writes = self._changes.flows.plan_replace(described, before, actor)
        self._note(flow.name, before, stored)
        return writes

    async def plan_remove(self, name: str, actor: Actor) -> Sequence[Write]:
        """See GeneratedFlows."""
        now = self._clock.now()
        flow = await self._stored(name)
        if flow is None:
            return await self._gaps.plan_end(name, now)
        self._note(name, flow)
        return [
            *self._changes.flows.plan_delete(flow, actor, flow.e_tag),
            *await self._states.plan_remove(name),
            *await self._gaps.plan_end(name, now),
        ]

    async def announce(self, name: str) -> None:
        """See GeneratedFlows."""
        self._notices.note(name, self._concerned.pop(name_key(name), ()))

    async def states(self, name: str) -> Mapping[UUID, GeneratedFlowState]:
        """See GeneratedFlows."""
        told = await self._states.of_flow(name)
        return {state.agent_id: GeneratedFlowState(state.status, state.at, state.message) for state in told}

    async def _stored(self, name: str) -> Flow | None:
        return (await self._catalog.stored([name])).get(name_key(name))

    def _note(self, name: str, *flows: Flow) -> None:
        """Remembers whom to tell once it is committed; whoever it concerned before is told too."""
        self._concerned[name_key(name)].update(needs_of(flow.requirements) for flow in flows)


def _described(flow: Flow, generated: GeneratedFlow) -> Flow:
    requested = flow.requested_status
    if generated.started is not None:
        requested = IntegrationStatusEnum2.STARTED if generated.started else IntegrationStatusEnum2.STOPPED
    return msgspec.structs.replace(
        flow,
        requested_status=requested,
        flow_spec=generated.spec,
        category=generated.category,
        labels=list(generated.labels),
        requirements=[Requirement(identifier=key, value=value) for key, value in generated.requirements.items()],
        schedule=generated.schedule,
        cron=generated.cron,
    )


def _runs_differently(flow: Flow, before: Flow) -> bool:
    return (flow.flow_spec, flow.cron) != (before.flow_spec, before.cron) or (
        needs_of(flow.requirements) != needs_of(before.requirements)
    )
