"""Accounts for due times that are nobody's: no agent matched, or nobody did while the flow was stopped or deleted."""

from datetime import datetime, timedelta
from uuid import UUID

from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.ledger_entry import TICKS, ScheduleTick
from penstock.areas.schedules.metrics import count_tick
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.kernel.clock import Clock
from penstock.kernel.cron import Cron
from penstock.kernel.due_span import span_of
from penstock.kernel.errors import NotFound, Stale
from penstock.protocol.report import TickOutcome
from penstock.resource.ports.flow_gaps import FlowGap, FlowGaps
from penstock.store.store import Store
from penstock.store.write import Append, Write

_AT_ONCE = 100
_SECOND = timedelta(seconds=1)


class GapAccounting:
    """Writes skipped ranges, together with how far the gap is accounted for.

    Replicas may sweep at the same time: of two that account for the same stretch one commit is Stale.
    """

    def __init__(self, store: Store, clock: Clock, gaps: FlowGaps, ledger: Ledger, policy: SchedulePolicy) -> None:
        self._store = store
        self._clock = clock
        self._gaps = gaps
        self._ledger = ledger
        self._policy = policy
        self._next_due: dict[UUID, datetime | None] = {}

    async def sweep(self) -> None:
        """Accounts for everything up to now."""
        # Whole seconds: replicas that sweep at the same time tell the same ranges.
        now = self._clock.now().replace(microsecond=0)
        gaps = await self._gaps.gaps()
        self._forget_all_but({gap.key for gap in gaps})
        due = [gap for gap in gaps if self._is_due(gap, now)]
        for start in range(0, len(due), _AT_ONCE):
            await self._account(due[start : start + _AT_ONCE], now)

    def _is_due(self, gap: FlowGap, now: datetime) -> bool:
        if gap.end is not None:
            return gap.end <= now
        if gap.key not in self._next_due:
            self._next_due[gap.key] = Cron.parse(gap.cron).next_after(gap.begin, self._policy.zone)
        following = self._next_due[gap.key]
        return following is not None and following <= now

    async def _account(self, gaps: list[FlowGap], now: datetime) -> None:
        ticks: list[ScheduleTick] = []
        writes: list[Write] = []
        for gap in gaps:
            until = gap.end if gap.end is not None else now
            ticks += self._skipped(gap, until)
            writes += self._gaps.plan_accounted(gap, until)
        # The stream first: a message that is there already is stored once, one left out would be for good.
        await self._ledger.publish(ticks)
        try:
            await self._store.commit([Append(TICKS, ticks), *writes])
        except (NotFound, Stale):
            return  # another replica was quicker, or a gap ended: what is left is found by the next sweep
        for gap in gaps:
            self._next_due.pop(gap.key, None)
        for tick in ticks:
            count_tick(tick)

    def _skipped(self, gap: FlowGap, until: datetime) -> list[ScheduleTick]:
        span = span_of(Cron.parse(gap.cron), gap.begin, until, self._policy.zone)
        if span is None:
            return []
        return [
            ScheduleTick(
                schedule=gap.schedule,
                flow=gap.flow,
                version=gap.version,
                due=span.first,
                last_due=span.last,
                count=span.count,
                outcome=TickOutcome.SKIPPED,
                reason=gap.reason,
            )
        ]

    def _forget_all_but(self, present: set[UUID]) -> None:
        for key in self._next_due.keys() - present:
            del self._next_due[key]
