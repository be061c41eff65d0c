"""The agent's flows: engines, ledger, and all that keeps them as the servers want them, put together."""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.agent.accountant import tell_passed
from penstock.agent.assigned.kind import Surroundings
from penstock.agent.crashes import Crashes
from penstock.agent.engines import Engines
from penstock.agent.flow_files import FlowFiles
from penstock.agent.flow_folders import FlowFolders
from penstock.agent.flow_log import FlowLog
from penstock.agent.flow_vitals import FlowVitals
from penstock.agent.keeper import FlowKeeper
from penstock.agent.ledger import Ledger
from penstock.agent.listener import AgentListener
from penstock.agent.log_limit import LogLimit
from penstock.agent.open_runs import OpenRuns
from penstock.agent.reading import FlowReader
from penstock.agent.reconciler import Reconciler
from penstock.agent.settings import AgentSettings
from penstock.agent.tasks import Tasks
from penstock.agent.variables import VariableSource
from penstock.agent.webjobs.web_jobs import job_environments
from penstock.flow.camel.engine import CamelEngine
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.choice import EngineKind
from penstock.flow.engine import EngineSettings, FlowEngine
from penstock.flow.surroundings import FlowSurroundings, Reach
from penstock.flow.variables import Variables

_GRACE = timedelta(seconds=5)
_LAST_GRACE = timedelta(seconds=2)  # when the agent stops, for which it has less than 5 s itself
_FLOWS = "flows"
_FILES = "files"
_CAMEL = "camel"
_ENGINES = "engines"
_MIB = 1024 * 1024


class Flows:
    """Works within `async with`, while `serve` runs as a task. registered: when the agent came to be.

    on_change: called when a flow stands otherwise than before.
    """

    def __init__(self, parts: Surroundings, ledger: Ledger, runs: OpenRuns, registered: datetime) -> None:
        self._parts = parts
        self._ledger = ledger
        self._runs = runs
        now = asyncio.get_running_loop().time
        clock, zone = parts.clock, parts.settings.zone
        self._log = FlowLog(parts.outbox, clock, LogLimit(now))
        self._crashes = Crashes(now)
        listener = AgentListener(ledger, runs, self._log)
        resolve = VariableSource(parts.uplink).resolve
        self._surroundings = FlowSurroundings(_reach(parts.settings, parts.folder), parts.server)
        engine_settings = EngineSettings(
            environment=parts.environment,
            grace=_GRACE,
            environments=job_environments(parts.settings, parts.folder),
        )
        self._native = FlowEngine(clock, zone, listener, resolve, engine_settings, self._surroundings)
        self._camel = CamelEngine(clock, listener, resolve, _camel_settings(parts), self._surroundings.server)
        self._engines = engines = Engines({EngineKind.NATIVE: self._native, EngineKind.CAMEL: self._camel})
        self._folders = FlowFolders(parts.folder / _FLOWS, FlowFiles(parts.uplink).fetch)
        reader = FlowReader(Variables(resolve), zone, self._folders, self._camel.check)
        keeper = FlowKeeper(
            engines,
            reader,
            parts.database,
            ledger,
            runs,
            parts.outbox,
            self._log,
            self._crashes,
            clock,
            registered,
        )
        self._reconciler = Reconciler(keeper, ledger, parts.database, parts.uplink, parts.access)
        listener.on_failed = self._reconciler.crashed
        keeper.on_change = self._changed
        self._touched = listener.touched
        self.vitals = FlowVitals(keeper, engines, listener, self._log, clock)
        self.on_change: Callable[[], None] = lambda: None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        (self._parts.folder / _FILES).mkdir(mode=0o700, exist_ok=True)
        await self._stack.enter_async_context(self._surroundings)
        await self._stack.enter_async_context(self._native)
        await self._stack.enter_async_context(self._camel)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._engines.stop_all(_LAST_GRACE)
        finally:
            await self._stack.__aexit__(kind, error, trace)
        self._log.tell_dropped()
        await self._runs.none_begins()

    def notice(self, names: list[str]) -> None:
        """names: the flows that changed; empty: all may have."""
        self._reconciler.notice(names)

    def _changed(self, flow: str) -> None:
        self._touched.add(flow)
        self.on_change()

    async def serve(self) -> None:
        """Follows the servers, until cancelled."""
        async with Tasks() as workers:
            workers.start(
                self._reconciler.serve(),
                self._crashes.serve(self._reconciler.restart),
                self._log.serve(),
                tell_passed(self._ledger, self._parts.clock),
            )
            await asyncio.get_running_loop().create_future()


def _reach(settings: AgentSettings, folder: Path) -> Reach:
    """How far flows reach from this agent."""
    return Reach(
        allow_private=settings.allow_private_addresses,
        folders=settings.folders or [folder / _FILES],
        most=settings.body_mb * _MIB,
    )


def _camel_settings(parts: Surroundings) -> CamelSettings:
    settings = parts.settings
    own = parts.folder / _ENGINES
    return CamelSettings(
        folder=parts.folder / _CAMEL,
        engines=(Path(settings.engine_folder).expanduser(), own) if settings.engine_folder else (own,),
        mirror=settings.maven_mirror,
        working_folder=(settings.folders or [parts.folder / _FILES])[0],
        zone=settings.timezone,
        heap_mb=settings.camel_heap_mb,
        environment=parts.environment,
        own_environment=os.environ,
        grace=_GRACE,
    )
