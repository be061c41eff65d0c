"""Closes the ledgers of deprecated agents: what they left open, up to their deprecation, was missed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from penstock.areas.schedules.closed import ClosedLedgers, plan_close
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.ledger_entry import TICKS, ScheduleTick, line_of
from penstock.areas.schedules.model import SCHEDULES, Schedule
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.kernel.clock import Clock
from penstock.kernel.cron import Cron
from penstock.kernel.due_span import span_of
from penstock.protocol.capability import satisfies
from penstock.protocol.report import TickOutcome
from penstock.resource.ports.agents import AgentDirectory, KnownAgent
from penstock.resource.ports.cron_jobs import CronJob, CronJobs
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append

AGENT_AWAY = "agent away"
_AT_ONCE = 1000


class LedgerClosing:
    """An agent that was connected when it was deprecated has told all by itself; then there is nothing to add."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        directory: AgentDirectory,
        ledger: Ledger,
        closed: ClosedLedgers,
        policy: SchedulePolicy,
        others: CronJobs | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._directory = directory
        self._ledger = ledger
        self._closed = closed
        self._policy = policy
        self._others = others

    async def close_all(self) -> None:
        """Closes what is due to be closed; any number of replicas may do so."""
        waited = self._clock.now() - self._policy.close_after
        for agent in await self._directory.agents(fresh=True):
            if not agent.works and agent.since <= waited and not await self._closed.is_closed(agent):
                await self._close(agent)

    async def _close(self, agent: KnownAgent) -> None:
        matched = [job for job in await self._jobs() if satisfies(agent.capabilities, job.requirements)]
        left = [tick for job in matched if (tick := await self._left_open(agent, job)) is not None]
        await self._ledger.publish(left)
        for start in range(0, len(left), _AT_ONCE):
            await self._store.commit([Append(TICKS, left[start : start + _AT_ONCE])])
        await self._store.commit([plan_close(agent)])

    async def _jobs(self) -> Sequence[CronJob]:
        """All that has due times: schedules, and web jobs where there are any."""
        documents = await self._store.list(SCHEDULES, limit=2**31 - 1)
        schedules = [_cron_job(decode(document.body, Schedule)) for document in documents]
        return [*schedules, *(await self._others.cron_jobs() if self._others is not None else ())]

    async def _left_open(self, agent: KnownAgent, job: CronJob) -> ScheduleTick | None:
        told = await self._last_told(agent.id, job)
        # By the cron that holds now, also for the time before it held: only the agent knew the one before.
        after = told or max(job.changed, _registered(agent.id))
        span = span_of(Cron.parse(job.cron), after, agent.since, self._policy.zone)
        if span is None:
            return None
        return ScheduleTick(
            schedule=job.schedule,
            flow=job.flow,
            version="",
            agent_id=agent.id,
            due=span.first,
            last_due=span.last,
            count=span.count,
            outcome=TickOutcome.MISSED,
            reason=AGENT_AWAY,
        )

    async def _last_told(self, agent_id: UUID, job: CronJob) -> datetime | None:
        """The last due time that the agent has accounted for."""
        where: Sequence[Where] = [Where("line", "=", line_of(agent_id, job.flow))]
        bodies = await self._store.entries(TICKS, where, limit=1)
        return decode(bodies[0], ScheduleTick).last_due if bodies else None


def _cron_job(schedule: Schedule) -> CronJob:
    changed = schedule.update_date or schedule.created_date
    return CronJob(schedule.name, schedule.name, schedule.flow, schedule.cron, schedule.required, changed)


def _registered(agent_id: UUID) -> datetime:
    """When the agent came to be: its id tells, being a UUIDv7."""
    return datetime.fromtimestamp((agent_id.int >> 80) / 1000, UTC)
