"""Brings one flow at a time to what is wanted of it: in an engine, in the ledger, and in the report on it."""

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import structlog

from penstock.agent.account import AGENT_AWAY, NOT_STARTED_YET
from penstock.agent.crashes import MOST, Crashes
from penstock.agent.database import Database
from penstock.agent.desired import read_items, remove_item, write_item
from penstock.agent.due_times import DueTimes
from penstock.agent.engines import Engines
from penstock.agent.entries import Channel, insert_entries, state_entry
from penstock.agent.flow_log import FlowLog
from penstock.agent.held_flow import HeldFlow, held, rule_of
from penstock.agent.ledger import Also, Ledger
from penstock.agent.open_runs import NEVER_BEGAN, OpenRuns
from penstock.agent.outbox import Outbox
from penstock.agent.reading import FlowReader, Reading
from penstock.flow.listener import Level
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.protocol.report import FlowState, IntegrationFlowStatusEnum
from penstock.protocol.work import IntegrationStatusEnum2, WorkItem

_GRACE = timedelta(seconds=5)
_LATE = timedelta(seconds=60)  # due times that are older than this when their flow starts are told as missed
_OUTSTANDING_SECONDS = 10.0
_log = structlog.get_logger(__name__)


class FlowKeeper:
    """One change of a flow at a time; changes of different flows go on side by side.

    registered: when the agent came to be; older due times were never its own.
    on_change: told each flow that stands otherwise than before.
    """

    def __init__(
        self,
        engines: Engines,
        reader: FlowReader,
        database: Database,
        ledger: Ledger,
        runs: OpenRuns,
        outbox: Outbox,
        flow_log: FlowLog,
        crashes: Crashes,
        clock: Clock,
        registered: datetime,
    ) -> None:
        self._engines = engines
        self._reader = reader
        self._database = database
        self._ledger = ledger
        self._runs = runs
        self._outbox = outbox
        self._flow_log = flow_log
        self._crashes = crashes
        self._clock = clock
        self._registered = registered
        self.flows: dict[str, HeldFlow] = {}
        self.on_change: Callable[[str], None] = lambda flow: None

    async def resume(self, item: WorkItem) -> bool:
        """Takes up a flow as the agent had it before it ended. Answers as `apply` does."""
        reading = await self._reader.read(item)
        self._ledger.resume(rule_of(item, reading.due_times, AGENT_AWAY))
        if reading.definition is None or not _is_wanted(item):
            self._put(self._resting(item, reading))
            return not reading.passing
        return await self._start_alone(item, reading, None)

    async def apply(self, item: WorkItem) -> bool:
        """Makes the flow what the item says. False: it could not be, which may do better another time."""
        reading = await self._reader.read(item)
        before = self.flows.get(item.name)
        tried_again = before is not None and before.stamp == item.stamp
        if not tried_again:
            self._crashes.forget(item.name)
        if reading.definition is None or not _is_wanted(item):
            await self._rest(item, reading.due_times, self._resting(item, reading))
            return not reading.passing
        if tried_again:  # what passed has its reason already
            self._ledger.learn(item.name, reading.due_times)
            return await self._start_alone(item, reading, None)
        if self._engines.where(item.name) == reading.engine and await self._replace(item, reading):
            return True
        await self._stop(item.name)
        await self._ledger.rest(rule_of(item, reading.due_times, NOT_STARTED_YET), self._since(item))
        return await self._start_alone(item, reading, self._ledger.told(item.name))

    async def crashed(self, flow: str, version: str, reason: str) -> None:
        """The engine told that this version of the flow cannot go on."""
        before = self.flows.get(flow)
        item = await self._wanted(flow)
        if before is None or not before.is_running or before.version != version or item is None:
            return  # it was changed meanwhile
        await self._wait_or_give_up(item, await self._reader.read(item), reason)

    async def restart(self, flow: str) -> None:
        """Starts a flow again that crashed, unless it was changed meanwhile."""
        before = self.flows.get(flow)
        item = await self._wanted(flow)
        if before is None or item is None or not before.waits or before.stamp != item.stamp:
            return
        reading = await self._reader.read(item)
        problem = reading.problem
        if reading.definition is not None:
            problem = await self._start(item, reading, None)
        if problem is not None:
            await self._wait_or_give_up(item, reading, problem)

    async def remove(self, flow: str, ended: datetime | None) -> None:
        """Ends the flow. ended: since when it is not the agent's any more, where that is known."""
        await self._stop(flow)
        now = self._clock.now()
        before = self.flows.pop(flow, None)
        state = FlowState(
            name=flow,
            version=before.version if before is not None else "",
            status=IntegrationFlowStatusEnum.STOPPED,
            at=now,
            removed=True,
        )

        def forget(connection: sqlite3.Connection) -> None:
            remove_item(connection, flow)
            insert_entries(connection, [state_entry(state)])

        await self._ledger.remove(flow, min(ended or now, now), forget)
        self._crashes.forget(flow)
        self._flow_log.forget(flow)
        await self._reader.remove(flow)
        self._outbox.stored(Channel.FLOWS, 1)

    async def _replace(self, item: WorkItem, reading: Reading) -> bool:
        """Starts a new version beside the one that runs, which then ends; False when it does not start so."""
        problem = await self._start(item, reading, None)
        if problem is not None:
            _log.info("flow starts anew, its versions cannot run side by side", flow=item.name, reason=problem)
        return problem is None

    async def _start_alone(self, item: WorkItem, reading: Reading, since: datetime | None) -> bool:
        """Starts a flow that does not run, or says why not."""
        problem = await self._start(item, reading, since)
        if problem is None:
            return True
        if not self._is_known(item, problem):
            self._flow_log.tell(item.name, Level.ERROR, problem)
        await self._rest(item, reading.due_times, self._resting(item, reading, problem))
        return False

    async def _start(self, item: WorkItem, reading: Reading, since: datetime | None) -> str | None:
        """Answers why it does not start; None when it does."""
        assert reading.definition is not None
        if since is not None:
            since = max(since, self._clock.now() - _LATE)
        try:
            moment = await self._engines.start(reading.engine, reading.definition, since)
        except Exception as error:  # noqa: BLE001 - a flow that does not start must not hurt the others
            trace = None if isinstance(error, PenstockError) else error  # those explain themselves
            _log.warning("flow does not start", flow=item.name, reason=str(error), exc_info=trace)
            return f"does not start: {error or type(error).__name__}"
        await self._last_ticks(item.name, moment)
        engine = self._engines.version(reading.engine)
        new = held(item, IntegrationFlowStatusEnum.RUNNING, None, engine, reading.folder)
        rule = rule_of(item, reading.due_times, AGENT_AWAY)
        await self._ledger.run(rule, self._since(item), moment, self._keep(item, new))
        self._put(new)
        await self._reader.keep_only(item)
        return None

    async def _rest(self, item: WorkItem, due_times: DueTimes | None, new: HeldFlow) -> None:
        await self._stop(item.name)
        rule = rule_of(item, due_times, new.problem or NOT_STARTED_YET)
        await self._ledger.rest(rule, self._since(item), self._keep(item, new))
        self._put(new)

    async def _wait_or_give_up(self, item: WorkItem, reading: Reading, reason: str) -> None:
        """The flow rests, and is started again after a pause, unless it has crashed too often."""
        crash = self._crashes.count(item.name)
        if crash.pause is None:
            what = f"crashed {MOST} times and stays down until it is saved or started anew: {reason}"
            status = IntegrationFlowStatusEnum.ERROR
        else:
            what = f"crashed ({crash.number} of {MOST}), starts again in {crash.pause:g} s: {reason}"
            status = IntegrationFlowStatusEnum.UNKNOWN
        _log.warning("flow crashed", flow=item.name, version=item.version, crash=crash.number, reason=reason)
        self._flow_log.tell(item.name, Level.ERROR, f"The flow {what}")
        await self._rest(item, reading.due_times, held(item, status, what, self._engines.version(reading.engine)))

    async def _stop(self, flow: str) -> None:
        if self._engines.where(flow) is not None:
            await self._engines.stop(flow, _GRACE)
            await self._runs.never_began(flow, f"{NEVER_BEGAN}: the flow was stopped")

    async def _last_ticks(self, flow: str, moment: datetime) -> None:
        """Returns when the engine has told of every due time of the version before."""
        try:
            async with asyncio.timeout(_OUTSTANDING_SECONDS):
                while self._ledger.outstanding(flow, moment):
                    await asyncio.sleep(0.005)
        except TimeoutError:
            _log.error("flow engine did not tell of a due time", flow=flow)

    async def _wanted(self, flow: str) -> WorkItem | None:
        """The flow as the servers want it, when it is to run."""
        items = await self._database.run(partial(read_items, flows=[flow]))
        return next((item for item in items if _is_wanted(item)), None)

    def _since(self, item: WorkItem) -> datetime:
        """When the item began to hold: a clock ahead of ours does not make it hold later."""
        return min(max(item.since, self._registered), self._clock.now())

    def _resting(self, item: WorkItem, reading: Reading, problem: str | None = None) -> HeldFlow:
        """The flow stopped, or held up by a problem, which nobody minds while it is to be stopped."""
        problem = (problem or reading.problem) if _is_wanted(item) else None
        status = IntegrationFlowStatusEnum.STOPPED if problem is None else IntegrationFlowStatusEnum.ERROR
        engine = self._engines.version(reading.engine) if reading.definition is not None else None
        return held(item, status, problem, engine, reading.folder)

    def _is_known(self, item: WorkItem, problem: str) -> bool:
        before = self.flows.get(item.name)
        return before is not None and (before.stamp, before.problem) == (item.stamp, problem)

    def _keep(self, item: WorkItem, new: HeldFlow) -> Also:
        known = self.flows.get(item.name) == new
        entries = [] if known else [state_entry(new.state(self._clock.now()))]

        def write(connection: sqlite3.Connection) -> None:
            write_item(connection, item)
            insert_entries(connection, entries)

        return write

    def _put(self, flow: HeldFlow) -> None:
        self.flows[flow.name] = flow
        self._outbox.stored(Channel.FLOWS, 1)
        self.on_change(flow.name)


def _is_wanted(item: WorkItem) -> bool:
    """Whether it is to run."""
    return item.requested is IntegrationStatusEnum2.STARTED
