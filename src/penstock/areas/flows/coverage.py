"""Keeps note of whether any agent matches a flow, and makes the moment when that changes known and exact.

A flow that no agent matches does not run: its status says so, one entity event says so at each change, and the due
times of a schedule are accounted for by the servers meanwhile (a gap). The note is changed before an agent gets the
flow, so that the agent accounts for the due times after that moment and nobody else does.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

import msgspec
import structlog

from penstock.areas.flows.catalog import FlowCatalog, FlowEntry
from penstock.areas.flows.gaps import Gaps, reason_of
from penstock.areas.flows.model import FLOWS, Flow
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.wire import Wire
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.audit import audit
from penstock.resource.matching import Matcher, Matching, needs_of, told
from penstock.store.store import Store
from penstock.store.write import Replace, Write

log = structlog.get_logger(__name__)

_AT_ONCE = 200

Plan = Callable[[Flow], Awaitable[Sequence[Write]]]


class CoverageEvent(Wire):
    """What the entity event of a flow says when agents begin or cease to match."""

    message: str


class Coverage:
    """Compares flows with agents."""

    def __init__(self, store: Store, clock: Clock, catalog: FlowCatalog, gaps: Gaps, matching: Matching) -> None:
        self._store = store
        self._clock = clock
        self._catalog = catalog
        self._gaps = gaps
        self._matching = matching

    async def check(self) -> None:
        """Notes for each flow whether an agent matches it; any number of replicas may do so."""
        flows = await self._catalog.flows()
        matcher = await self._matching.matcher()
        unmatched = [flow for flow in flows if not flow.unmatched_since and not matcher.agents_for(flow.needs)]
        await self.note_matched([flow for flow in flows if flow.unmatched_since], matcher)
        await self._commit(unmatched, partial(self._plan_unmatched, matcher))

    async def note_matched(self, flows: Iterable[FlowEntry], matcher: Matcher) -> None:
        """Notes of those flows that agents match that they do so from now on."""
        matched = [flow for flow in flows if matcher.agents_for(flow.needs)]
        await self._commit(matched, partial(self._plan_matched, matcher))

    async def place(self, flow: Flow, before: Flow | None) -> tuple[Flow, Sequence[Write]]:
        """A flow whose `since` is new, with the note, and the writes that go with it.

        before: the flow as it is stored; None when it is new.
        """
        matcher = await self._matching.matcher()
        if matcher.agents_for(needs_of(flow.requirements)):
            placed = msgspec.structs.replace(flow, unmatched_since=None)
            return placed, await self._gaps.plan_move(placed, flow.since, None)
        since = before.unmatched_since if before is not None else None
        placed = msgspec.structs.replace(flow, unmatched_since=since or flow.since)
        writes = await self._gaps.plan_move(placed, flow.since, reason_of(placed))
        return placed, [*writes, *self._event("unmatched", placed)]

    async def _plan_unmatched(self, matcher: Matcher, flow: Flow) -> Sequence[Write]:
        """The last agent that matched did so until an agent last changed."""
        if flow.unmatched_since is not None or matcher.agents_for(needs_of(flow.requirements)):
            return []
        earliest = max(flow.since, flow.matched_since)
        changed = max((agent.since for agent in matcher.known), default=earliest)
        at = min(max(changed, earliest), self._clock.now())
        after = msgspec.structs.replace(flow, unmatched_since=at)
        return [
            self._replace(after, flow),
            *await self._gaps.plan_move(after, at, reason_of(after)),
            *self._event("unmatched", after),
        ]

    async def _plan_matched(self, matcher: Matcher, flow: Flow) -> Sequence[Write]:
        agents = matcher.agents_for(needs_of(flow.requirements))
        if flow.unmatched_since is None or not agents:
            return []
        at = max(self._clock.now(), *(agent.since for agent in agents))
        after = msgspec.structs.replace(flow, unmatched_since=None, matched_since=at)
        return [
            self._replace(after, flow),
            *await self._gaps.plan_move(after, at, None),
            *self._event("matched", after),
        ]

    async def _commit(self, flows: Sequence[FlowEntry], plan: Plan) -> None:
        for start in range(0, len(flows), _AT_ONCE):
            names = [flow.name for flow in flows[start : start + _AT_ONCE]]
            if not await self._try(names, plan):
                for name in names:
                    await self._try([name], plan)

    async def _try(self, names: Sequence[str], plan: Plan) -> bool:
        """Whether it was done; not when a flow changed meanwhile: then it is looked at again at the next check."""
        stored = await self._catalog.stored(names)
        writes = [write for flow in stored.values() for write in await plan(flow)]
        try:
            await self._store.commit(writes)
        except (Stale, NotFound, NameTaken):
            return False
        if writes:
            log.info("agents match other flows now", flows=len(stored))
        return True

    def _replace(self, after: Flow, before: Flow) -> Replace:
        now = self._clock.now()
        stored = msgspec.structs.replace(after, e_tag=new_id().hex)
        return Replace(FLOWS, stored.key, stored.e_tag or "", stored, now, expected=before.e_tag)

    def _event(self, act: str, flow: Flow) -> Sequence[Write]:
        if flow.requested_status is not IntegrationStatusEnum2.STARTED:
            return []
        needs = told(flow.requirements)
        message = f"no agent matches: needs {needs}" if act == "unmatched" else f"an agent matches: {needs}"
        now = self._clock.now()
        after = CoverageEvent(message=message)
        return [audit(act, FLOWS.name, flow.key, actor=SYSTEM, at=now, subject=flow.name, after=after)]
