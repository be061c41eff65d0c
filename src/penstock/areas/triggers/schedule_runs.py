"""Sees to due schedules: each due time once, by one replica, on the ledger.

A due time is seen to in four steps: the run is put on record, under an id that follows from schedule and due time; the
next due time and the tick are committed, if nobody else has done so; the next due message is put; this one is
acknowledged. Whoever dies in between leaves the message to another replica, where the steps that were done change
nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never
from uuid import UUID

import msgspec
import structlog

from penstock.areas.triggers.checks import run_parameters
from penstock.areas.triggers.model import TriggerTick
from penstock.areas.triggers.notebook_schedules import NotebookScheduleService
from penstock.areas.triggers.passed import passed
from penstock.areas.triggers.policy import TriggerPolicy
from penstock.areas.triggers.schedule_triggers import TYPE, ScheduleTriggerService
from penstock.areas.triggers.stored import SCHEDULE_RUNS, TICKS, ScheduleKind, ScheduleRun
from penstock.areas.triggers.timetable import DueSchedule, Timetable
from penstock.bus.consumer import Unprocessable
from penstock.bus.message import Delivered
from penstock.connectors.cadence import Cadence
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NotFound, Stale, TooManyRequests, Unavailable
from penstock.kernel.ids import derived_id, new_id
from penstock.protocol.report import TickOutcome
from penstock.resource.ports.runs import RunParameter, Runs, RunTrigger
from penstock.resource.ports.scripts import Actions, Notebooks, Scripts
from penstock.store.store import Store
from penstock.store.write import Append, Replace

_log = structlog.get_logger(__name__)

_PAUSE = 1.0
_DISABLED = "the trigger was disabled"
_STILL_RUNNING = "the run before it was still in progress"
_GONE = "what it runs does not exist any more"
_AWAY = "no server saw to it in time"


@dataclass(frozen=True)
class _Scheduled:
    """A schedule of either kind."""

    id: UUID
    scripts: Scripts
    script_id: UUID
    parameters: Sequence[RunParameter]
    cadence: Cadence
    enabled: bool


class ScheduleRuns:
    """Sees to due messages."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        timetable: Timetable,
        triggers: ScheduleTriggerService,
        notebook_schedules: NotebookScheduleService,
        actions: Actions,
        notebooks: Notebooks,
        runs: Runs,
        policy: TriggerPolicy,
    ) -> None:
        self._store = store
        self._clock = clock
        self._timetable = timetable
        self._triggers = triggers
        self._notebook_schedules = notebook_schedules
        self._actions = actions
        self._notebooks = notebooks
        self._runs = runs
        self._policy = policy

    async def see_to(self, message: Delivered) -> None:
        """Returns when the due time is on the ledger, and the next due message is there."""
        try:
            due = msgspec.json.decode(message.data, type=DueSchedule)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise Unprocessable(str(error)) from None
        run = await self._timetable.run(due.id)
        if run is None:
            return
        try:
            if (run.stamp, run.next_due) == (due.stamp, due.due):
                run = await self._done(run, due.due)
            # Seen to before, or of other due times: perhaps whoever did so died before the next message was put.
            await self._timetable.put(run)
        except NotFound:
            await self._timetable.forget(due.id)  # removed meanwhile, or expired
        except Stale:
            _log.info("schedule was changed, or seen to by another replica", schedule=str(due.id))

    async def repair(self) -> None:
        """Puts due messages again that were lost; any number of replicas may do so."""
        for run in await self._timetable.overdue(self._clock.now() - self._policy.overdue):
            _log.warning("schedule was left alone and is put again", schedule=str(run.key))
            await self._timetable.put(run)

    async def _done(self, run: ScheduleRun, due: datetime) -> ScheduleRun:
        """The document after the due time. Raises NotFound, Stale."""
        schedule = await self._scheduled(run)
        first = await self._tick(schedule, run, due)
        now = self._clock.now()
        ticks = _joined([run.last_tick, first, self._missed(schedule, first, due, now)])
        after = msgspec.structs.replace(
            run,
            e_tag=new_id().hex,
            next_due=schedule.cadence.next_due(due, now),
            last_run=first.run_id or run.last_run,
            last_tick=ticks[-1],
        )
        replace = Replace(SCHEDULE_RUNS, run.key, after.e_tag or "", after, now, expected=run.e_tag)
        await self._store.commit([Append(TICKS, ticks, replace=True), replace])
        return after

    async def _scheduled(self, run: ScheduleRun) -> _Scheduled:
        match run.kind:
            case ScheduleKind.ACTION:
                trigger = await self._triggers.schedules.get(run.key)
                cadence = self._timetable.cadence(trigger.frequency, trigger.cron_expression)
                values = run_parameters(trigger.parameters)
                return _Scheduled(run.key, self._actions, trigger.action_id, values, cadence, trigger.is_enabled)
            case ScheduleKind.NOTEBOOK:
                schedule = await self._notebook_schedules.schedules.get(run.key)
                cadence = self._timetable.cadence(schedule.frequency, schedule.cron_expression)
                values = run_parameters(schedule.parameters)
                return _Scheduled(run.key, self._notebooks, schedule.notebook_id, values, cadence, enabled=True)
            case _:
                assert_never(run.kind)

    async def _tick(self, schedule: _Scheduled, run: ScheduleRun, due: datetime) -> TriggerTick:
        """What becomes of the due time."""
        if not schedule.enabled:
            return _tick(schedule.id, due, TickOutcome.SKIPPED, _DISABLED)
        if self._clock.now() - due > self._policy.late:
            return _tick(schedule.id, due, TickOutcome.MISSED, _AWAY)
        id = derived_id(due, "schedule", schedule.id)
        if run.last_run not in (None, id):
            before = await self._runs.recorded(run.last_run)
            if before is not None and not before.finished:
                return _tick(schedule.id, due, TickOutcome.SKIPPED, _STILL_RUNNING)
        return await self._fired(schedule, due, id)

    async def _fired(self, schedule: _Scheduled, due: datetime, id: UUID) -> TriggerTick:
        trigger = RunTrigger(TYPE, str(schedule.id))
        while self._clock.now() - due <= self._policy.late:
            try:
                await schedule.scripts.start(schedule.script_id, schedule.parameters, trigger, SYSTEM, id)
            except Invalid as error:
                await schedule.scripts.refuse(schedule.script_id, schedule.parameters, trigger, SYSTEM, str(error), id)
            except NotFound:
                return _tick(schedule.id, due, TickOutcome.SKIPPED, _GONE)
            except (TooManyRequests, Unavailable) as error:
                _log.warning("schedule has to wait", schedule=str(schedule.id), reason=error.detail)
                await asyncio.sleep(_PAUSE)
                continue
            return msgspec.structs.replace(_tick(schedule.id, due, TickOutcome.FIRED), run_id=id)
        return _tick(schedule.id, due, TickOutcome.MISSED, _AWAY)

    def _missed(self, schedule: _Scheduled, first: TriggerTick, due: datetime, now: datetime) -> TriggerTick | None:
        """The due times that passed before anybody could see to them."""
        gone = passed(schedule.cadence, due, now)
        if gone is None:
            return None
        disabled = first.reason == _DISABLED
        outcome = TickOutcome.SKIPPED if disabled else TickOutcome.MISSED
        tick = _tick(schedule.id, gone.first, outcome, _DISABLED if disabled else _AWAY)
        return msgspec.structs.replace(tick, last_due=gone.last, count=gone.count)


def _tick(id: UUID, due: datetime, outcome: TickOutcome, reason: str | None = None) -> TriggerTick:
    return TriggerTick(schedule_id=id, due=due, last_due=due, outcome=outcome, reason=reason)


_LONGEST = timedelta(days=1)


def _joined(ticks: Sequence[TriggerTick | None]) -> Sequence[TriggerTick]:
    """In order; those that did not fire, for one reason, as one entry of up to a day."""
    joined: list[TriggerTick] = []
    for tick in ticks:
        if tick is None:
            continue
        last = joined[-1] if joined else None
        alike = last is not None and (last.outcome, last.reason) == (tick.outcome, tick.reason)
        if last is not None and alike and tick.run_id is None and tick.last_due - last.due <= _LONGEST:
            joined[-1] = msgspec.structs.replace(last, last_due=tick.last_due, count=last.count + tick.count)
        else:
            joined.append(tick)
    return joined
