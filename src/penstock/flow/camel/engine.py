"""The Camel engine: each flow in a Java process of its own."""

import asyncio
import secrets
import shutil
import socket
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from penstock.flow.camel.class_path import ClassPaths
from penstock.flow.camel.console import Console
from penstock.flow.camel.data_source import VARIABLE, data_source
from penstock.flow.camel.flow_process import FlowProcess
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.java import Java, find_java
from penstock.flow.camel.needs import needed_packages
from penstock.flow.camel.process import JavaProcess
from penstock.flow.camel.release import VERSION
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.camel.translation import KEY, Translation, translate
from penstock.flow.camel.workspace import Workspace
from penstock.flow.definition import FlowDefinition
from penstock.flow.listener import FlowListener
from penstock.flow.running import FlowState, FlowStatus
from penstock.flow.variables import Resolve, Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.kernel.ids import new_id

_HOST = "127.0.0.1"
_GRACE_BEFORE_KILL = 2.0


class CamelEngine:
    """Runs flows within `async with`; see penstock.flow.any_engine.Engine."""

    def __init__(self, clock: Clock, listener: FlowListener, resolve: Resolve, settings: CamelSettings) -> None:
        self._clock = clock
        self._listener = listener
        self._variables = Variables(resolve)
        self._settings = settings
        self._class_paths = ClassPaths(settings.folder / "packages", settings.mirror, settings.environment)
        self._flows: dict[str, FlowProcess] = {}
        self._changes: dict[str, asyncio.Lock] = {}
        self._starts = asyncio.Semaphore(settings.parallel_starts)
        self._tasks = asyncio.TaskGroup()
        self._client = httpx.AsyncClient(trust_env=False)

    @property
    def version(self) -> str:
        return f"camel {VERSION}"

    def check(self) -> Java:
        """The Java that flows run on. Raises NotInstalled or NoJava, saying what to do."""
        CamelInstallation.find(self._settings.engines)
        return find_java(self._settings.java)

    async def __aenter__(self) -> Self:
        # What an earlier run left behind was ended with it.
        await asyncio.to_thread(shutil.rmtree, self._runs, ignore_errors=True)
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
            await self._client.aclose()

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
            async with self._starts:
                flow = await self._launch(definition, reloaded)
                await flow.started(self._settings.start_timeout)
            self._flows[definition.name] = flow
            if before is not None:
                await before.stop(self._settings.grace)
            return flow.since

    async def stop(self, name: str, grace: timedelta) -> None:
        async with self._change(name):
            flow = self._flow(name)
            await flow.stop(grace)
            del self._flows[name]

    @property
    def _runs(self) -> Path:
        return self._settings.folder / "runs"

    def _change(self, name: str) -> asyncio.Lock:
        return self._changes.setdefault(name, asyncio.Lock())

    def _flow(self, name: str) -> FlowProcess:
        flow = self._flows.get(name)
        if flow is None:
            raise NotFound(f"flow '{name}' does not run here")
        return flow

    async def _launch(self, definition: FlowDefinition, reloaded: int) -> FlowProcess:
        """Starts the process. Its end is waited for by a task of the engine."""
        installation = CamelInstallation.find(self._settings.engines)
        java = await asyncio.to_thread(find_java, self._settings.java)
        variables = self._variables.with_own(definition.variables)
        translation = translate(definition.source)
        values, drivers = await self._values(translation, variables)
        packages = {*needed_packages(definition.source), *definition.packages, *drivers}
        class_path = await self._class_paths.of(installation, packages)
        if definition.folder is not None:
            class_path = [*class_path, definition.folder]
        workspace = Workspace(self._runs / definition.name / new_id().hex)
        port, server_port = _free_ports()
        path = f"/{secrets.token_urlsafe(18)}"
        values |= _camel_properties(definition.name, port, path, server_port, self._settings.grace)
        await asyncio.to_thread(workspace.write, translation.text, values)
        folder = self._settings.working_folder or definition.folder or workspace.home
        process = await JavaProcess.start(
            java.program,
            workspace.arguments(class_path, self._java_options(java)),
            folder,
            {**self._settings.environment, "HOME": str(workspace.home)},
        )
        console = Console(self._client, port, path)
        flow = FlowProcess(definition, process, console, workspace, self._listener, variables, self._clock, reloaded)
        self._tasks.create_task(flow.watch())
        return flow

    async def _values(self, translation: Translation, variables: Variables) -> tuple[dict[str, str], Collection[str]]:
        """Camel's properties for the variables and databases that the flow names, and the drivers for these."""
        values = {f"{KEY}{name}": (await variables.get(name)).value for name in sorted(translation.variables)}
        drivers = set()
        for name in sorted(translation.data_sources):
            source = data_source(name, (await variables.get(f"{VARIABLE}{name}")).value)
            values |= source.properties
            drivers.add(source.package)
        return values, drivers

    def _java_options(self, java: Java) -> list[str]:
        options = [
            f"-Xmx{self._settings.heap_mb}m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Xshare:auto",
            f"-Duser.timezone={self._settings.zone}",
            "-Dfile.encoding=UTF-8",
        ]
        return [*options, "--sun-misc-unsafe-memory-access=allow"] if java.version >= 23 else options


def _camel_properties(name: str, port: int, path: str, server_port: int, grace: timedelta) -> dict[str, str]:
    return {
        "camel.main.name": name,
        "camel.main.autoConfigurationLogSummary": "false",
        "camel.main.useMdcLogging": "true",
        "camel.main.loadStatisticsEnabled": "true",
        "camel.main.devConsoleEnabled": "true",
        "camel.main.shutdownTimeout": str(max(1, round(grace.total_seconds()))),
        "camel.main.shutdownLogInflightExchangesOnTimeout": "false",
        "camel.management.enabled": "true",
        "camel.management.host": _HOST,
        "camel.management.port": str(port),
        "camel.management.path": path,
        "camel.management.devConsoleEnabled": "true",
        "camel.server.enabled": "true",
        "camel.server.host": _HOST,
        "camel.server.port": str(server_port),
    }


def _free_ports() -> tuple[int, int]:
    """Two ports of the loopback address that nobody listens on now."""
    with socket.socket() as one, socket.socket() as other:
        one.bind((_HOST, 0))
        other.bind((_HOST, 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])
