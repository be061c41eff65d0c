"""Brings one flow at a time to what is wanted of it: in the engine, in the ledger, and in the report on it."""

import asyncio
import sqlite3
from datetime import datetime, timedelta

import structlog

from penstock.agent.account import AGENT_AWAY, NOT_STARTED_YET
from penstock.agent.desired import remove_item, write_item
from penstock.agent.due_times import DueTimes
from penstock.agent.entries import Channel, insert_entries, state_entry
from penstock.agent.held_flow import HeldFlow, held, rule_of
from penstock.agent.ledger import Also, Ledger
from penstock.agent.open_runs import NEVER_BEGAN, OpenRuns
from penstock.agent.outbox import Outbox
from penstock.agent.reading import FlowReader
from penstock.flow.definition import FlowDefinition
from penstock.flow.engine import FlowEngine
from penstock.kernel.clock import Clock
from penstock.protocol.report import FlowState, IntegrationFlowStatusEnum
from penstock.protocol.work import IntegrationStatusEnum2, WorkItem

_GRACE = timedelta(seconds=5)
_OUTSTANDING_SECONDS = 10.0
_log = structlog.get_logger(__name__)


class FlowKeeper:
    """One change of a flow at a time; changes of different flows go on side by side.

    registered: when the agent came to be; older due times were never its own.
    """

    def __init__(
        self,
        engine: FlowEngine,
        reader: FlowReader,
        ledger: Ledger,
        runs: OpenRuns,
        outbox: Outbox,
        clock: Clock,
        registered: datetime,
    ) -> None:
        self._engine = engine
        self._reader = reader
        self._ledger = ledger
        self._runs = runs
        self._outbox = outbox
        self._clock = clock
        self._registered = registered
        self.flows: dict[str, HeldFlow] = {}

    async def resume(self, item: WorkItem) -> bool:
        """Takes up a flow as the agent had it before it ended. Answers as `apply` does."""
        reading = await self._reader.read(item)
        self._ledger.resume(rule_of(item, reading.due_times, AGENT_AWAY))
        if reading.definition is None or not _is_wanted(item):
            self._put(_resting(item, reading.problem))
            return not reading.passing
        return await self._start(item, reading.definition, reading.due_times)

    async def apply(self, item: WorkItem) -> bool:
        """Makes the flow what the item says. False: it could not be, which may do better another time."""
        reading = await self._reader.read(item)
        if reading.definition is None or not _is_wanted(item):
            await self._rest(item, reading.due_times, reading.problem)
            return not reading.passing
        before = self.flows.get(item.name)
        if before is not None and before.stamp == item.stamp:  # tried again: what passed has its reason already
            self._ledger.learn(item.name, reading.due_times)
        elif before is None or not before.is_running:
            await self._ledger.rest(rule_of(item, reading.due_times, NOT_STARTED_YET), self._since(item))
        return await self._start(item, reading.definition, reading.due_times)

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
        self._outbox.stored(Channel.FLOWS, 1)

    async def _start(self, item: WorkItem, definition: FlowDefinition, due_times: DueTimes | None) -> bool:
        try:
            moment = await self._engine.start(definition)
        except Exception as error:  # noqa: BLE001 - a flow that does not start must not hurt the others
            _log.warning("flow does not start", flow=item.name, version=item.version, exc_info=error)
            await self._rest(item, due_times, f"does not start: {error}")
            return False
        await self._last_ticks(item.name, moment)
        new = held(item, IntegrationFlowStatusEnum.RUNNING)
        rule = rule_of(item, due_times, AGENT_AWAY)
        await self._ledger.run(rule, self._since(item), moment, self._keep(item, new))
        self._put(new)
        return True

    async def _rest(self, item: WorkItem, due_times: DueTimes | None, problem: str | None) -> None:
        await self._stop(item.name)
        new = _resting(item, problem)
        rule = rule_of(item, due_times, problem or NOT_STARTED_YET)
        await self._ledger.rest(rule, self._since(item), self._keep(item, new))
        self._put(new)

    async def _stop(self, flow: str) -> None:
        before = self.flows.get(flow)
        if before is not None and before.is_running:
            await self._engine.stop(flow, _GRACE)
            await self._runs.never_began(flow, f"{NEVER_BEGAN}: the flow was stopped")

    async def _last_ticks(self, flow: str, moment: datetime) -> None:
        """Returns when the engine has told of every due time of the version before."""
        try:
            async with asyncio.timeout(_OUTSTANDING_SECONDS):
                while self._ledger.outstanding(flow, moment):
                    await asyncio.sleep(0.005)
        except TimeoutError:
            _log.error("flow engine did not tell of a due time", flow=flow)

    def _since(self, item: WorkItem) -> datetime:
        """When the item began to hold: a clock ahead of ours does not make it hold later."""
        return min(max(item.since, self._registered), self._clock.now())

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


def _is_wanted(item: WorkItem) -> bool:
    """Whether it is to run."""
    return item.requested is IntegrationStatusEnum2.STARTED


def _resting(item: WorkItem, problem: str | None) -> HeldFlow:
    if problem is not None:
        return held(item, IntegrationFlowStatusEnum.ERROR, problem)
    return held(item, IntegrationFlowStatusEnum.STOPPED)
