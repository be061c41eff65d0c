"""How flows stand on agents: the last that each agent reported."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, cast
from uuid import UUID

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.model import FLOW_STATES, AgentFlowState
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import derived_id, new_id
from penstock.kernel.names import name_key
from penstock.protocol.report import FlowReport, FlowState, IntegrationFlowStatusEnum
from penstock.store.column import micros
from penstock.store.store import Store, Where, decode
from penstock.store.write import Delete, Insert, Replace, Write

_AT_ONCE = 500
_TRIES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ToldState(NamedTuple):
    """What an agent last said of a flow, in short."""

    status: IntegrationFlowStatusEnum
    message: str | None


Reported = Mapping[str, Mapping[UUID, ToldState]]


class FlowStates:
    """One document per agent and flow, under an id that follows from both."""

    def __init__(self, store: Store, clock: Clock, catalog: FlowCatalog) -> None:
        self._store = store
        self._clock = clock
        self._catalog = catalog

    async def take(self, reports: Sequence[tuple[UUID, FlowReport]]) -> None:
        """Keeps the newest state of each flow; older ones that come late or again change nothing."""
        newest: dict[UUID, tuple[UUID, FlowState]] = {}
        for agent_id, report in reports:
            for state in report.states:
                id = _id(agent_id, state.name)
                if id not in newest or newest[id][1].at <= state.at:
                    newest[id] = agent_id, state
        known = await self._catalog.named([state.name for _, state in newest.values()])
        kept = [(id, *each) for id, each in newest.items() if each[1].removed or name_key(each[1].name) in known]
        for start in range(0, len(kept), _AT_ONCE):
            await self._store_newest(kept[start : start + _AT_ONCE])

    async def of_flow(self, name: str) -> Sequence[AgentFlowState]:
        """What agents reported of one flow."""
        documents = await self._store.list(FLOW_STATES, [Where("flow", "=", name)], limit=2**31 - 1)
        return [decode(document.body, AgentFlowState) for document in documents]

    async def of_all(self) -> Reported:
        """How each flow stands on each agent, by the flow's name key."""
        found: defaultdict[str, dict[UUID, ToldState]] = defaultdict(dict)
        rows = await self._store.values(FLOW_STATES, ["flow", "agent", "status", "message"])
        for flow, agent, status, message in rows:
            told = ToldState(IntegrationFlowStatusEnum(cast(int, status)), cast(str | None, message))
            found[str(flow)][UUID(str(agent))] = told
        return found

    async def plan_remove(self, name: str) -> Sequence[Write]:
        """The writes that forget a flow's states."""
        now = self._clock.now()
        rows = await self._store.values(FLOW_STATES, ["id"], [Where("flow", "=", name)])
        return [Delete(FLOW_STATES, UUID(str(id)), now) for (id,) in rows]

    async def _store_newest(self, states: Sequence[tuple[UUID, UUID, FlowState]]) -> None:
        for left in reversed(range(_TRIES)):
            writes = await self._plan(states)
            try:
                await self._store.commit(writes)
            except (NameTaken, NotFound, Stale):
                if not left:
                    raise
                continue  # another replica took a report of the same flows
            return

    async def _plan(self, states: Sequence[tuple[UUID, UUID, FlowState]]) -> Sequence[Write]:
        ids = [str(id) for id, _, _ in states]
        rows = await self._store.values(FLOW_STATES, ["id", "e_tag", "at"], [Where("id", "in", ids)])
        before = {str(id): (str(e_tag), at) for id, e_tag, at in rows}
        now = self._clock.now()
        writes: list[Write] = []
        for id, agent_id, state in states:
            e_tag, at = before.get(str(id), (None, None))
            if at is not None and int(at) >= micros(state.at):  # type: ignore[arg-type]
                continue
            if state.removed:
                writes += [Delete(FLOW_STATES, id, now, expected=e_tag)] if e_tag else []
            elif e_tag is None:
                writes.append(Insert(FLOW_STATES, id, new_id().hex, _kept(agent_id, state), now))
            else:
                writes.append(Replace(FLOW_STATES, id, new_id().hex, _kept(agent_id, state), now, expected=e_tag))
        return writes


def _id(agent_id: UUID, flow: str) -> UUID:
    return derived_id(_EPOCH, agent_id, name_key(flow))


def _kept(agent_id: UUID, state: FlowState) -> AgentFlowState:
    return AgentFlowState(
        agent_id=agent_id,
        flow=state.name,
        version=state.version,
        status=state.status,
        at=state.at,
        message=state.message.replace("\0", "") if state.message is not None else None,
        detail=state.detail,
        engine=state.engine,
    )
