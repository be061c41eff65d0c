"""The Camel engine: each flow in a Java process of its own."""

import asyncio
import shutil
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from penstock.flow.camel.flow_process import FlowProcess
from penstock.flow.camel.http_front import HttpFront
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.java import Java, find_java
from penstock.flow.camel.launcher import Launcher
from penstock.flow.camel.release import VERSION
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.definition import FlowDefinition
from penstock.flow.http.http_server import HttpServer
from penstock.flow.listener import FlowListener
from penstock.flow.running import FlowState, FlowStatus
from penstock.flow.variables import Resolve, Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound

_FLOW = "flow.camel.yaml"


class CamelEngine:
    """Runs flows within `async with`; see penstock.flow.any_engine.Engine.

    server: the agent's own, at which requests for flows arrive; None for no such.
    """

    def __init__(
        self,
        clock: Clock,
        listener: FlowListener,
        resolve: Resolve,
        settings: CamelSettings,
        server: HttpServer | None = None,
    ) -> None:
        self._clock = clock
        self._listener = listener
        self._variables = Variables(resolve)
        self._settings = settings
        self._launcher = Launcher(settings, clock, listener)
        self._flows: dict[str, FlowProcess] = {}
        self._server = server
        self._fronts: dict[FlowProcess, HttpFront] = {}
        self._changes: dict[str, asyncio.Lock] = {}
        self._starts = asyncio.Semaphore(settings.parallel_starts)
        self._tasks = asyncio.TaskGroup()

    @property
    def version(self) -> str:
        return f"camel {VERSION}"

    def check(self) -> Java:
        """The Java that flows run on. Raises NotInstalled or NoJava, saying what to do."""
        CamelInstallation.find(self._settings.engines)
        return find_java(self._settings.own_environment)

    async def __aenter__(self) -> Self:
        # What an earlier run left behind was ended with it.
        await asyncio.to_thread(shutil.rmtree, self._launcher.runs, ignore_errors=True)
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            grace = self._settings.grace if error is None else timedelta()
            async with asyncio.TaskGroup() as stopping:
                for name in self.names():
                    stopping.create_task(self.stop(name, grace))
        finally:
            await self._tasks.__aexit__(kind, error, trace)
            await self._launcher.close()

    def names(self) -> list[str]:
        return sorted(self._flows)

    def status(self, name: str) -> FlowStatus:
        flow = self._flow(name)
        return FlowStatus(
            name=name,
            version=flow.definition.version,
            state=FlowState.STOPPING if flow.stopping else FlowState.RUNNING,
            started=flow.since,
            statistics=flow.statistics,
            error=flow.error,
            pid=flow.pid,
        )

    async def start(self, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        """Starts the new version before it stops the old one; Camel has no due times of its own to hand over.

        Raises NotInstalled, NoJava, PackagesMissing, CamelFailed, NotFound for a variable; then the old version
        runs on.
        """
        async with self._change(definition.name):
            before = self._flows.get(definition.name)
            reloaded = before.statistics.reloaded + 1 if before is not None else 0
            variables = self._variables.with_own(definition.variables)
            prepared = await self._launcher.prepare(definition, {_FLOW: definition.source}, variables)
            async with self._starts:
                flow = await self._launcher.launch(prepared, reloaded)
                self._tasks.create_task(flow.watch())
                await self._begin(flow)
            self._flows[definition.name] = flow
            if before is not None:
                await self._end(before, self._settings.grace)
            return flow.since

    async def stop(self, name: str, grace: timedelta) -> None:
        async with self._change(name):
            flow = self._flow(name)
            await self._end(flow, grace)
            del self._flows[name]

    async def _begin(self, flow: FlowProcess) -> None:
        """Returns when the flow runs and its paths are served; else nothing is left of it."""
        try:
            await flow.started(self._settings.start_timeout)
            await self._open_front(flow)
        except BaseException:
            await asyncio.shield(flow.stop(timedelta()))
            raise

    async def _open_front(self, flow: FlowProcess) -> None:
        if self._server is not None:
            front = HttpFront(self._server, self._launcher.client, flow.definition.name, flow.http.port)
            await front.open(await flow.served())
            self._fronts[flow] = front

    async def _end(self, flow: FlowProcess, grace: timedelta) -> None:
        front = self._fronts.pop(flow, None)
        if front is not None:
            front.close()
        await flow.stop(grace)

    def _change(self, name: str) -> asyncio.Lock:
        return self._changes.setdefault(name, asyncio.Lock())

    def _flow(self, name: str) -> FlowProcess:
        flow = self._flows.get(name)
        if flow is None:
            raise NotFound(f"flow '{name}' does not run here")
        return flow
