"""How items of a kind of work stand on agents: the last that each agent reported."""

from abc import ABC
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec
import structlog

from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import derived_id, new_id
from penstock.kernel.wire import Wire
from penstock.protocol.assignment import AssignmentReport, AssignmentState
from penstock.store.column import micros
from penstock.store.definition import Collection, Column, ColumnType
from penstock.store.store import Store, Where, decode
from penstock.store.write import Delete, Insert, Replace, Write

log = structlog.get_logger(__name__)

S = TypeVar("S", bound=Wire)

_TRIES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class AgentState(Entity):
    """How an item stands on an agent, as it last reported. status: JSON object of the kind."""

    item_id: UUID
    agent_id: UUID
    at: datetime
    status: dict[str, Any]


def states_collection(name: str) -> Collection[AgentState]:
    """Where the states of one kind are stored."""
    columns: tuple[Column[AgentState], ...] = (
        Column("item", lambda state: str(state.item_id)),
        Column("at", lambda state: state.at, ColumnType.INTEGER),
    )
    return Collection(name, AgentState, columns)


class AssignmentStates(ABC, Generic[S]):
    """One document per agent and item, under an id that follows from both. status: what agents report.

    items: where the items are stored; of one that is gone nothing is kept.
    """

    collection: Collection[AgentState]
    items: Collection[Any]
    status: type[S]

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def take_reports(self, reports: Sequence[tuple[UUID, AssignmentReport]]) -> None:
        """For AgentReports.consume."""
        await self.take([(agent_id, state) for agent_id, report in reports for state in report.states])

    async def take(self, reported: Sequence[tuple[UUID, AssignmentState]]) -> None:
        """Keeps the newest state of each; older ones that come late or again change nothing."""
        present = await self._present({state.key for _, state in reported})
        newest: dict[UUID, tuple[UUID, AssignmentState]] = {}
        for agent_id, state in reported:
            id = _id(agent_id, state.key)
            if state.key not in present and not state.removed:
                continue
            if id not in newest or newest[id][1].at <= state.at:
                newest[id] = agent_id, state
        for left in reversed(range(_TRIES)):
            writes = await self._plan([(id, *each) for id, each in newest.items()])
            try:
                await self._store.commit(writes)
            except (NameTaken, NotFound, Stale):
                if not left:
                    raise
                continue  # another replica took a report of the same items
            return

    async def of_item(self, key: UUID) -> Mapping[UUID, S]:
        """What agents reported of one item, by agent."""
        return {state.agent_id: self._status(state) for state in await self._states(key)}

    async def reported(self, key: UUID) -> Mapping[UUID, tuple[S, datetime]]:
        """The same, and when each agent reported it."""
        return {state.agent_id: (self._status(state), state.at) for state in await self._states(key)}

    async def of_all(self) -> Mapping[UUID, Mapping[UUID, S]]:
        """What agents reported of every item, by item and agent."""
        found: dict[UUID, dict[UUID, S]] = {}
        for document in await self._store.list(self.collection, limit=2**31 - 1):
            state = decode(document.body, AgentState)
            found.setdefault(state.item_id, {})[state.agent_id] = self._status(state)
        return found

    async def plan_remove(self, key: UUID) -> Sequence[Write]:
        """The writes that forget an item's states."""
        now = self._clock.now()
        return [Delete(self.collection, state.key, now) for state in await self._states(key)]

    def _status(self, state: AgentState) -> S:
        return decode(msgspec.json.encode(state.status), self.status)

    async def _states(self, key: UUID) -> Sequence[AgentState]:
        documents = await self._store.list(self.collection, [Where("item", "=", str(key))], limit=2**31 - 1)
        return [decode(document.body, AgentState) for document in documents]

    async def _present(self, keys: set[UUID]) -> set[UUID]:
        where = [Where("id", "in", [str(key) for key in keys])]
        return {UUID(str(id)) for (id,) in await self._store.values(self.items, ["id"], where)}

    async def _plan(self, states: Sequence[tuple[UUID, UUID, AssignmentState]]) -> Sequence[Write]:
        ids = [str(id) for id, _, _ in states]
        rows = await self._store.values(self.collection, ["id", "e_tag", "at"], [Where("id", "in", ids)])
        before = {str(id): (str(e_tag), cast(int, at)) for id, e_tag, at in rows}
        now = self._clock.now()
        writes: list[Write] = []
        for id, agent_id, state in states:
            e_tag, at = before.get(str(id), (None, None))
            if at is not None and at >= micros(state.at):
                continue
            if state.removed:
                writes += [Delete(self.collection, id, now, expected=e_tag)] if e_tag else []
                continue
            kept = self._kept(id, agent_id, state)
            if kept is None:
                continue
            if e_tag is None:
                writes.append(Insert(self.collection, id, new_id().hex, kept, now))
            else:
                writes.append(Replace(self.collection, id, new_id().hex, kept, now, expected=e_tag))
        return writes

    def _kept(self, id: UUID, agent_id: UUID, state: AssignmentState) -> AgentState | None:
        """None, logged, for a status that is none of the kind."""
        body = bytes(state.status)
        try:
            decode(body, self.status)
        except msgspec.ValidationError as error:
            log.error("reported state dropped", agent=str(agent_id), item=str(state.key), reason=str(error))
            return None
        status = msgspec.json.decode(body)
        return AgentState(id=id, item_id=state.key, agent_id=agent_id, at=state.at, status=status)


def _id(agent_id: UUID, key: UUID) -> UUID:
    return derived_id(_EPOCH, agent_id, key)
