"""How event sources stand on agents: the last that each agent reported."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from penstock.areas.eventsources.stored import SOURCE_STATES, AgentSourceState
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import derived_id, new_id
from penstock.protocol.event_source import SourceState
from penstock.store.column import micros
from penstock.store.store import Store, Where, decode
from penstock.store.write import Delete, Insert, Replace, Write

_TRIES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SourceStates:
    """One document per agent and event source, under an id that follows from both."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def take(self, reported: Sequence[tuple[UUID, SourceState]]) -> None:
        """Keeps the newest state of each; older ones that come late or again change nothing."""
        newest: dict[UUID, tuple[UUID, SourceState]] = {}
        for agent_id, state in reported:
            id = _id(agent_id, state.source_id)
            if id not in newest or _at(newest[id][1]) <= _at(state):
                newest[id] = agent_id, state
        for left in reversed(range(_TRIES)):
            writes = await self._plan([(id, *each) for id, each in newest.items()])
            try:
                await self._store.commit(writes)
            except (NameTaken, NotFound, Stale):
                if not left:
                    raise
                continue  # another replica took a report of the same event sources
            return

    async def of_source(self, source_id: UUID) -> Sequence[AgentSourceState]:
        """What agents reported of one event source."""
        where = [Where("source", "=", str(source_id))]
        documents = await self._store.list(SOURCE_STATES, where, limit=2**31 - 1)
        return [decode(document.body, AgentSourceState) for document in documents]

    async def plan_remove(self, source_id: UUID) -> Sequence[Write]:
        """The writes that forget an event source's states."""
        now = self._clock.now()
        return [Delete(SOURCE_STATES, state.key, now) for state in await self.of_source(source_id)]

    async def _plan(self, states: Sequence[tuple[UUID, UUID, SourceState]]) -> Sequence[Write]:
        ids = [str(id) for id, _, _ in states]
        rows = await self._store.values(SOURCE_STATES, ["id", "e_tag", "at"], [Where("id", "in", ids)])
        before = {str(id): (str(e_tag), cast(int, at)) for id, e_tag, at in rows}
        now = self._clock.now()
        writes: list[Write] = []
        for id, agent_id, state in states:
            e_tag, at = before.get(str(id), (None, None))
            if at is not None and at >= micros(_at(state)):
                continue
            if state.removed:
                writes += [Delete(SOURCE_STATES, id, now, expected=e_tag)] if e_tag else []
            elif e_tag is None:
                writes.append(Insert(SOURCE_STATES, id, new_id().hex, _kept(id, agent_id, state), now))
            else:
                body = _kept(id, agent_id, state)
                writes.append(Replace(SOURCE_STATES, id, new_id().hex, body, now, expected=e_tag))
        return writes


def _id(agent_id: UUID, source_id: UUID) -> UUID:
    return derived_id(_EPOCH, agent_id, source_id)


def _at(state: SourceState) -> datetime:
    return state.status.last_status_update


def _kept(id: UUID, agent_id: UUID, state: SourceState) -> AgentSourceState:
    return AgentSourceState(id=id, source_id=state.source_id, agent_id=agent_id, status=state.status)
