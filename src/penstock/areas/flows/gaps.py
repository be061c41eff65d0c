"""Times in which a scheduled flow is nobody's work: kept until somebody has accounted for their due times."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from penstock.areas.flows.model import FLOW_GAPS, Flow
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import Clock
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.mirror import Mirror
from penstock.resource.ports.flow_gaps import FlowGap
from penstock.store.store import Store, decode
from penstock.store.write import Delete, Insert, Replace, Write

UNMATCHED = "no agent matched"
STOPPED = "stopped"
REMOVED = "the flow was deleted"


class Gaps:
    """Opens and ends the gaps together with what causes them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._mirror = Mirror(store, FLOW_GAPS, lambda gap: gap)

    async def gaps(self) -> Sequence[FlowGap]:
        """Those that are open, or ended and not accounted for."""
        return list((await self._mirror.current()).values())

    def plan_accounted(self, gap: FlowGap, until: datetime) -> Sequence[Write]:
        """See FlowGaps."""
        if gap.end is not None and until >= gap.end:
            return [Delete(FLOW_GAPS, gap.key, self._clock.now(), expected=gap.e_tag)]
        return [self._replace(gap, msgspec.structs.replace(gap, begin=max(gap.begin, until)))]

    async def plan_move(self, flow: Flow, at: datetime, reason: str | None) -> Sequence[Write]:
        """The writes that end the flow's open gap at `at`, and open another there when there is a reason for one."""
        if flow.cron is None or flow.schedule is None:
            return []
        opened = self._open(flow, flow.schedule, flow.cron, at, reason) if reason is not None else []
        # The open gap's end comes first: a flow has one open gap at most.
        return [*await self.plan_end(flow.name, at), *opened]

    async def plan_end(self, flow: str, at: datetime) -> Sequence[Write]:
        """The writes that end the flow's open gap, if there is one."""
        document = await self._store.find(FLOW_GAPS, "open", flow)
        if document is None:
            return []
        gap = decode(document.body, FlowGap)
        if at <= gap.begin:
            return [Delete(FLOW_GAPS, gap.key, self._clock.now(), expected=gap.e_tag)]
        return [self._replace(gap, msgspec.structs.replace(gap, end=at))]

    def _open(self, flow: Flow, schedule: str, cron: str, at: datetime, reason: str) -> Sequence[Write]:
        now = self._clock.now()
        gap = FlowGap(
            flow=flow.name, schedule=schedule, cron=cron, version=flow.version, reason=reason, begin=at
        ).created(SYSTEM, now)
        return [Insert(FLOW_GAPS, gap.key, gap.e_tag or "", gap, now)]

    def _replace(self, before: FlowGap, after: FlowGap) -> Replace:
        now = self._clock.now()
        stored = after.changed(before, SYSTEM, now)
        return Replace(FLOW_GAPS, stored.key, stored.e_tag or "", stored, now, expected=before.e_tag)


def reason_of(flow: Flow) -> str | None:
    """Why nobody runs the flow; None while an agent matches."""
    if flow.unmatched_since is None:
        return None
    return UNMATCHED if flow.requested_status is IntegrationStatusEnum2.STARTED else STOPPED
