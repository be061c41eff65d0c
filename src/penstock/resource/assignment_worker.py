"""Serves one kind of work: agents answered and told, items that no agent has found."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.bus.bus import Bus
from penstock.bus.subscription import Subscription
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentQuery
from penstock.protocol.work import VariableQuery
from penstock.resource.agent_questions import AgentQuestions
from penstock.resource.area import Worker
from penstock.resource.assignments import Assignable, Assignments
from penstock.resource.changes import Change, Changes
from penstock.resource.coverage import AssignmentCoverage
from penstock.resource.matching import Matching, Needs

_LOOK_SECONDS = 10.0
_GATHER_SECONDS = 0.02


@dataclass(frozen=True)
class AssignmentLinks:
    """How agents are reached; declared as a service by each area that has a kind of work."""

    bus: Bus
    changes: Changes
    questions: AgentQuestions
    matching: Matching


class AssignmentWorker(Worker):
    """Subclasses say of what, by their constructor. Notices may be lost: agents also resync by themselves."""

    def __init__(self, links: AssignmentLinks, assignments: Assignments[Any], coverage: AssignmentCoverage) -> None:
        self._links = links
        self._assignments = assignments
        self._coverage = coverage
        self._changed = asyncio.Event()
        self._all = False
        self._known: Mapping[UUID, Assignable] | None = None

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            async for subscription in self._subscriptions():
                stack.push_async_callback(subscription.stop)
            while True:
                self._changed.clear()
                await self._tell()
                await self._coverage.check()
                await self._wait()

    async def _subscriptions(self) -> AsyncIterator[Subscription]:
        kind, questions, changes = self._assignments.kind, self._links.questions, self._links.changes
        yield await questions.respond(kind, AssignmentQuery, self._assignments.answer)
        yield await questions.respond(subjects.variables_of(kind), VariableQuery, self._assignments.variables)
        yield await changes.follow(self._assignments.collection.name, self._note)
        yield await changes.follow("agents", self._note)  # agents are told by `flows` that they changed
        for each in self._assignments.upstream:
            yield await changes.follow(each, self._note_all)

    async def _note(self, change: Change) -> None:
        self._changed.set()

    async def _note_all(self, change: Change) -> None:
        self._all = True
        self._changed.set()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._changed.wait()
        except TimeoutError:
            return
        await asyncio.sleep(_GATHER_SECONDS)

    async def _tell(self) -> None:
        """Tells the agents of every item that differs from when they were last told."""
        before, self._known = self._known, await self._assignments.all()
        everything, self._all = self._all, False
        if before is None:
            return  # agents ask by themselves when they find the servers
        needs = {item.needs for item in self._known.values()} if everything else _differing(before, self._known)
        matcher = await self._links.matching.matcher()
        for agent in {agent.id for each in needs for agent in matcher.agents_for(each)}:
            await self._links.bus.notify(subjects.assigned(agent, self._assignments.kind))


def _differing(before: Mapping[UUID, Assignable], after: Mapping[UUID, Assignable]) -> set[Needs]:
    """What items need, or needed, that are not the same in both."""
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return {item.needs for items in (before, after) for key in changed if (item := items.get(key)) is not None}
