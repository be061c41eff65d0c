"""An agent's ledger, keeper and engine on a real database and a clock that is driven, killed wherever a test likes.

The servers of this world keep a history: which version of a flow was wanted from when on. It says which due times
there were, and so what the agent's reports must add up to.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from zoneinfo import ZoneInfo

from penstock.agent.crashes import Crashes
from penstock.agent.database import Database, Work
from penstock.agent.desired import read_items, read_names
from penstock.agent.engines import Engines
from penstock.agent.flow_log import FlowLog
from penstock.agent.held_flow import HeldFlow
from penstock.agent.keeper import FlowKeeper
from penstock.agent.ledger import Ledger
from penstock.agent.listener import AgentListener
from penstock.agent.log_limit import LogLimit
from penstock.agent.open_runs import OpenRuns
from penstock.agent.outbox import Outbox
from penstock.agent.reading import FlowReader
from penstock.flow.choice import EngineKind
from penstock.flow.engine import EngineSettings, FlowEngine
from penstock.flow.listener import Tick
from penstock.flow.variables import Variable, Variables
from penstock.kernel.clock import ManualClock
from penstock.kernel.cron import Cron
from penstock.kernel.errors import NotFound
from penstock.kernel.ids import new_id
from penstock.kernel.validation import decode_json
from penstock.protocol.report import TickOutcome, TickReport
from penstock.protocol.work import IntegrationStatusEnum2, WorkItem

ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 3, 28, 12, 0, 0, 500_000, tzinfo=UTC)
_LONG_AGO = BEGIN - timedelta(days=1)


def flow_spec(cron: str) -> str:
    return f"- from: {{uri: quartz, parameters: {{triggerName: t, cron: '{cron}'}}, steps: [{{log: tick}}]}}"


class MortalDatabase(Database):
    """A real database, of which a kill keeps what was handed over before it and nothing after."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.dies_after: int | None = None
        self.dead = asyncio.Event()
        self._unheard: list[asyncio.Future[Any]] = []

    def post(self, work: Work[Any]) -> "asyncio.Future[Any]":
        if self.dies_after is not None:
            if self.dies_after == 0:
                self.dead.set()
                self._unheard.append(asyncio.get_running_loop().create_future())
                return self._unheard[-1]
            self.dies_after -= 1
        return super().post(work)

    async def bury(self) -> None:
        """Ends what still waits for the dead."""
        for future in self._unheard:
            if not future.done():
                future.set_exception(Killed())
        await self.close()


class Killed(Exception):
    """The agent was killed; what it did afterwards never happened."""


class WatchingListener(AgentListener):
    """Remembers what the engine was let fire."""

    def __init__(self, ledger: Ledger, runs: OpenRuns, log: FlowLog) -> None:
        super().__init__(ledger, runs, log)
        self.fired: list[tuple[str, datetime]] = []

    async def ticks(self, ticks: Sequence[Tick]) -> None:
        await super().ticks(ticks)
        self.fired += [(tick.flow, tick.due) for tick in ticks if not tick.missed]


@dataclass
class Life:
    """One run of the agent, from start to stop or kill."""

    database: MortalDatabase
    ledger: Ledger
    keeper: FlowKeeper
    listener: WatchingListener
    serving: "asyncio.Task[None]"
    ending: asyncio.Event


@dataclass
class Wish:
    """From `since` on the servers want the item; None: not any more."""

    since: datetime
    item: WorkItem | None
    cron: str


@dataclass
class World:
    path: Path
    clock: ManualClock = field(default_factory=lambda: ManualClock(BEGIN))
    history: dict[str, list[Wish]] = field(default_factory=dict)
    fired: list[tuple[str, datetime]] = field(default_factory=list)
    life: Life | None = None

    def wish(self, flow: str, cron: str, *, started: bool) -> None:
        """The servers want the flow so from now on."""
        item = WorkItem(
            name=flow,
            stamp=new_id().hex,
            version=new_id().hex,
            requested=IntegrationStatusEnum2.STARTED if started else IntegrationStatusEnum2.STOPPED,
            since=self.clock.now(),
            spec=flow_spec(cron),
        )
        self.history.setdefault(flow, []).append(Wish(self.clock.now(), item, cron))

    def unwish(self, flow: str) -> None:
        self.history[flow].append(Wish(self.clock.now(), None, ""))

    def wanted(self, flow: str) -> Wish | None:
        history = self.history.get(flow)
        return history[-1] if history else None

    async def start(self) -> None:
        """Starts the agent on what the one before left on disk."""
        database = MortalDatabase(self.path)
        outbox = Outbox(database, self.clock, 1 << 30)
        runs = OpenRuns(database, outbox, self.clock)
        ledger = Ledger(database, outbox, runs)
        log = FlowLog(outbox, self.clock, LogLimit(monotonic))
        listener = WatchingListener(ledger, runs, log)
        await database.open()
        await ledger.open()
        engine = FlowEngine(self.clock, ZONE, listener, _no_variable, EngineSettings(grace=timedelta()))
        ending = asyncio.Event()
        serving = asyncio.create_task(_serve(engine, ending))
        await asyncio.sleep(0)
        reader = FlowReader(Variables(_no_variable), ZONE)
        keeper = FlowKeeper(
            Engines({EngineKind.NATIVE: engine}),
            reader,
            database,
            ledger,
            runs,
            outbox,
            log,
            Crashes(monotonic),
            self.clock,
            _LONG_AGO,
        )
        self.life = Life(database, ledger, keeper, listener, serving, ending)

    async def resume(self) -> None:
        assert self.life is not None
        names = await self.life.database.run(read_names)
        for item in await self.life.database.run(partial(read_items, flows=names)):
            await self.life.keeper.resume(item)

    async def sync(self) -> None:
        """The servers are heard: what is as it was is settled, the rest is changed."""
        assert self.life is not None
        held = self.life.keeper.flows
        wanted = {flow: wish for flow in self.history if (wish := self.wanted(flow)) is not None}
        same = [
            flow
            for flow, wish in wanted.items()
            if wish.item is not None and flow in held and held[flow].stamp == wish.item.stamp
        ]
        await self.life.ledger.settle(same)
        for flow, wish in wanted.items():
            if wish.item is None and flow in held:
                await self.life.keeper.remove(flow, wish.since)
            elif wish.item is not None and flow not in same:
                await self.life.keeper.apply(wish.item)

    def held(self, flow: str) -> HeldFlow:
        assert self.life is not None
        return self.life.keeper.flows[flow]

    async def crash(self, flow: str, reason: str) -> None:
        """The engine says that the flow cannot go on."""
        assert self.life is not None
        await self.life.keeper.crashed(flow, self.held(flow).version, reason)

    async def restart(self, flow: str) -> None:
        """It is time to start the flow again that crashed."""
        assert self.life is not None
        await self.life.keeper.restart(flow)

    async def live(self, seconds: int) -> None:
        """Time passes, with the agent running."""
        for _ in range(seconds):
            await self.clock.advance(timedelta(seconds=1))
            await self._settle()

    async def sleep(self, seconds: int) -> None:
        """Time passes, with no agent."""
        await self.clock.advance(timedelta(seconds=seconds))

    async def tell_passed(self) -> None:
        assert self.life is not None
        await self.life.ledger.tell_passed(self.life.ledger.resting(), self.clock.now())

    async def unless_killed(self, work: Coroutine[Any, Any, None]) -> None:
        """Does the work; when the agent is killed over it, what is left of it never happens."""
        if self.life is None:
            work.close()
            return
        task = asyncio.ensure_future(work)
        killed = asyncio.ensure_future(self.life.database.dead.wait())
        await asyncio.wait({task, killed}, return_when=asyncio.FIRST_COMPLETED)
        killed.cancel()
        if self.life is None or not self.life.database.dead.is_set():
            task.result()
            return
        task.cancel()
        await asyncio.wait({task})
        await self._bury()

    async def end(self) -> None:
        """The agent stops in order."""
        assert self.life is not None
        self.fired += self.life.listener.fired
        self.life.ending.set()
        await self.life.serving
        await self.life.database.close()
        self.life = None

    async def _bury(self) -> None:
        """Ends what is left of a killed agent in this process; its database hears nothing of it."""
        assert self.life is not None
        life, self.life = self.life, None
        self.fired += life.listener.fired
        await life.database.bury()
        life.ending.set()
        await asyncio.wait({life.serving})
        life.serving.exception()  # it may well have failed over the dead database

    async def _settle(self) -> None:
        """Lets the engine and the database finish what they are at."""
        assert self.life is not None
        for _ in range(3):
            await asyncio.sleep(0)
            await Database.post(self.life.database, lambda connection: None)

    # What must hold.

    def reports(self) -> list[TickReport]:
        with closing(sqlite3.connect(self.path)) as connection:
            rows = connection.execute("SELECT entry FROM outbox WHERE part = 'tick' ORDER BY number").fetchall()
        return [decode_json(body, TickReport) for (body,) in rows]

    def told(self) -> Counter[tuple[str, datetime]]:
        """Each due time of each flow that the reports tell of, and how often."""
        crons = {wish.item.version: wish.cron for history in self.history.values() for wish in history if wish.item}
        told: Counter[tuple[str, datetime]] = Counter()
        for report in self.reports():
            times = list(_times(crons[report.version], report.due - timedelta(microseconds=1), report.last_due))
            assert (times[0], times[-1], len(times)) == (report.due, report.last_due, report.count)
            told.update((report.flow, time) for time in times)
        return told

    def due(self) -> Counter[tuple[str, datetime]]:
        """Each due time that there was."""
        due: Counter[tuple[str, datetime]] = Counter()
        for flow, history in self.history.items():
            ends = [wish.since for wish in history[1:]] + [self.clock.now()]
            for wish, end in zip(history, ends, strict=True):
                if wish.item is not None:
                    due.update((flow, time) for time in _times(wish.cron, wish.since, end))
        return due

    def told_fired(self) -> list[tuple[str, datetime]]:
        return [(report.flow, report.due) for report in self.reports() if report.outcome is TickOutcome.FIRED]


def _times(cron: str, after: datetime, until: datetime) -> list[datetime]:
    return list(Cron.parse(cron).between(after, until, ZONE))


async def _serve(engine: FlowEngine, ending: asyncio.Event) -> None:
    async with engine:
        await ending.wait()


async def _no_variable(name: str) -> Variable:
    raise NotFound.of("variable", name)
