"""The tick ledger: each due time of each schedule ends as fired, skipped or missed, with the reason.

Who accounts for a due time:
- The agents that the schedule's flow matches, each for itself and by its own time zone, for every due time after
  `WorkItem.since`: fired, skipped (stopped) or missed (the agent was away). They report at least once.
- The servers, by their own time zone, while no agent matches: `gap_accounting`.
- The servers, for what an agent leaves open when it is deprecated: `closing`.

The boundary rule, when a schedule changes at a moment S: due times up to S are the old version's, those after S the
new one's, whoever accounts for them and whenever they learn of the change. S is in the same commit as the change,
both for the agents (`since`) and for the servers (a gap ends at S, the next begins there); so no due time is left
out, and none belongs to both. A tick that an agent still fired for the old version after S, because the change was on
its way, stays in the ledger as what happened.

Every entry has a key that follows from the due time, so reports that come again, from agents or of replicas that were
killed halfway, add nothing. The journal is written first, then the stream, then the report is acknowledged.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from penstock.areas.schedules.closed import ClosedLedgers
from penstock.areas.schedules.ledger_entry import RUNS, TICKS, RunEntry, ScheduleTick
from penstock.areas.schedules.message import run_message, ticks_message
from penstock.areas.schedules.metrics import count_run, count_tick
from penstock.areas.schedules.model import SCHEDULES
from penstock.areas.schedules.report import runs_of, ticks_of, with_begins
from penstock.areas.schedules.streams import ScheduleStreams
from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.kernel.errors import Unavailable
from penstock.kernel.names import name_key
from penstock.protocol.report import ScheduleReport, TickOutcome
from penstock.protocol.web_job import PREFIX as WEB_JOB_PREFIX
from penstock.resource.mirror import Mirror
from penstock.store.definition import Journal
from penstock.store.store import Store
from penstock.store.write import Append

_AT_ONCE = 1000
_NAMES_AGE = 5.0  # seconds


class Ledger:
    """Writes what became of due times, and publishes it."""

    def __init__(self, store: Store, bus: Bus, streams: ScheduleStreams, closed: ClosedLedgers) -> None:
        self._store = store
        self._bus = bus
        self._streams = streams
        self._closed = closed
        self._schedules = Mirror(store, SCHEDULES, lambda schedule: schedule.name)

    async def take(self, reports: Sequence[tuple[UUID, ScheduleReport]]) -> None:
        """Takes in what agents report, which may be the same again."""
        closed = await self._closed.of({agent_id for agent_id, _ in reports})
        ticks = [tick for id, report in reports if id not in closed for tick in ticks_of(id, report)]
        runs = [run for id, report in reports for run in runs_of(id, report)]
        await self._append(TICKS, ticks)
        await self._append(RUNS, with_begins(runs))
        await self.publish(ticks, runs)
        for tick in ticks:
            count_tick(tick)
        for run in runs:
            count_run(run)

    async def publish(self, ticks: Sequence[ScheduleTick], runs: Sequence[RunEntry] = ()) -> None:
        """Tells in the streams of schedules that exist: runs, and due times that did not fire."""
        silent = [tick for tick in ticks if tick.outcome is not TickOutcome.FIRED]
        told_of = {tick.schedule for tick in silent} | {run.schedule for run in runs}
        names = await self._names({name for name in told_of if not name.startswith(WEB_JOB_PREFIX)})
        told = [(name, ticks_message(tick, name)) for tick in silent if (name := names.get(name_key(tick.schedule)))]
        told += [(name, run_message(run, name)) for run in runs if (name := names.get(name_key(run.schedule)))]
        await self._publish(told)

    async def _names(self, wanted: set[str]) -> Mapping[str, str]:
        """Names of schedules as they are written, by their keys; fresh when one that is wanted is not among them."""
        for age in (_NAMES_AGE, 0.0):
            names = {name_key(name): name for name in (await self._schedules.current(age)).values()}
            if all(name_key(name) in names for name in wanted):
                break
        return names

    async def _publish(self, told: Sequence[tuple[str, Message]]) -> None:
        messages = [message for _, message in told]
        try:
            await self._bus.publish_all(messages)
        except Unavailable:
            # Perhaps somebody deleted a stream: make those that are needed. When the bus is away, that raises too.
            for schedule in {schedule for schedule, _ in told}:
                await self._streams.ensure(schedule)
            await self._bus.publish_all(messages)

    async def _append(self, journal: Journal[Any], entries: Sequence[msgspec.Struct]) -> None:
        for start in range(0, len(entries), _AT_ONCE):
            await self._store.commit([Append(journal, entries[start : start + _AT_ONCE])])
