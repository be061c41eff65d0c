"""What every change of what runs takes: a version, a stamp that agents notice, and an account of due times."""

from collections.abc import Sequence

import msgspec

from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.model import FLOWS, Flow
from penstock.areas.flows.trail import trail_of
from penstock.areas.flows.version import FlowVersions
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write


class FlowChanges:
    """Plans; the commit is the caller's, together with what else changes."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, coverage: Coverage, versions: FlowVersions
    ) -> None:
        self.flows = Resource(FLOWS, store, changes, clock, kind="flow", audited=trail_of)
        self._clock = clock
        self._coverage = coverage
        self._versions = versions

    async def plan_create(self, flow: Flow, actor: Actor) -> tuple[Flow, Sequence[Write]]:
        """The first version of a flow, as it will be stored, and the writes that store it."""
        placed, placing = await self._coverage.place(self._renewed(flow), None)
        stored, writes = self.flows.plan_create(placed, actor)
        return stored, [*writes, self._versions.plan_keep(stored), *placing]

    async def plan_save(self, flow: Flow, before: Flow, actor: Actor) -> tuple[Flow, Sequence[Write]]:
        """As plan_create, for the version that follows `before`."""
        following = msgspec.structs.replace(flow, version=next_version(before))
        placed, placing = await self._coverage.place(self._renewed(following), before)
        stored, writes = self.flows.plan_replace(placed, before, actor)
        return stored, [*writes, self._versions.plan_keep(stored), *placing]

    async def plan_request(self, flow: Flow, before: Flow, actor: Actor) -> tuple[Flow, Sequence[Write]]:
        """As plan_create, for the same version with another request."""
        placed, placing = await self._coverage.place(self._renewed(flow), before)
        stored, writes = self.flows.plan_replace(placed, before, actor)
        return stored, [*writes, *placing]

    def _renewed(self, flow: Flow) -> Flow:
        return msgspec.structs.replace(flow, stamp=new_id().hex, since=self._clock.now())


def next_version(flow: Flow | None) -> str:
    """What the next save of a flow is called; None for one that is new."""
    return str(int(flow.version) + 1) if flow is not None else "1"
